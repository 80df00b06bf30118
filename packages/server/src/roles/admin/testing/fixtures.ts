/**
 * Creates a resource for each path parameter, keyed by the path up to the parameter. The test of all routes tries each route on the
 * caller's own resource, another organisation's, a deleted one and an unknown one. It fails for a route whose parameter has no fixture.
 */
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { tally } from '../../../outcomes/tally.ts';
import { newId } from '../../../runtime/ids.ts';
import { kyselyWriter } from '../../../stores/observe/kysely-writer.ts';
import { readPosition, writeTally } from '../../../stores/observe/write.ts';
import { newTotpSecret, readTotpSecret, stepAt, totpCode } from '../auth/totp.ts';
import { type Harness, PASSWORD, type TestOrganisation } from './harness.ts';

/** The API as an organisation's owner, and the stores for resources that no request can create. */
export interface Api {
  (method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  org_id: string;
  record(outcomes: Outcome[]): Promise<void>;
}
export function apiOf(harness: Harness, org: TestOrganisation): Api {
  const writer = kyselyWriter(harness.operations.observe);
  return Object.assign((method: string, path: string, body?: unknown) => harness.call(method, path, { token: org.owner.token, body }), {
    org_id: org.org_id,
    record: async (outcomes: Outcome[]) => {
      await writeTally(writer, [tally(outcomes)], await readPosition(writer));
    },
  });
}

export interface Fixture {
  /** Creates one below `parent` (a path with ids filled in) and returns its path segment. */
  create(api: Api, parent: string): Promise<string>;
  /** Shared by all organisations (the catalog): it has no owner and cannot be deleted. */
  shared?: true;
  /** Cannot be deleted (a revision, an event). */
  permanent?: true;
}

let made = 0;
/** A port that refuses connections, because a delivery test really sends. */
const NOWHERE = 'http://127.0.0.1:9/in';
async function createAt(api: Api, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await api('POST', path, body);
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const idOf = async (body: Promise<Record<string, unknown>>) => String((await body).id);

/** A webhook template: its vendor needs only a URL. */
const newTemplate = async (api: Api): Promise<string> => {
  const body = { name: `Template ${++made}`, vendor: 'webhook', config: { url: NOWHERE } };
  const { template } = (await createAt(api, '/v1/admin/integration-templates', body)) as { template: { id: string } };
  return template.id;
};
/** A vendor with an OAuth connect flow, complete. */
const OAUTH_INTEGRATION = {
  vendor: 'hubspot',
  config: { auth: 'oauth', client_id: 'client-1', client_secret: 'a client secret', refresh_token: 'a refresh token' },
};
const newPipeline = (api: Api) => idOf(createAt(api, '/v1/admin/pipelines', { name: `Pipeline ${++made}` }));

const newIntegration = async (api: Api): Promise<{ pipeline_id: string; integration_id: string }> => {
  const pipeline_id = await newPipeline(api);
  const body = { template_id: await newTemplate(api) };
  return { pipeline_id, integration_id: await idOf(createAt(api, `/v1/admin/pipelines/${pipeline_id}/integrations`, body)) };
};
/** A processed event whose delivery failed for good. */
async function newDeadLetter(api: Api): Promise<{ id: string; event_id: string; integration_id: string }> {
  const { pipeline_id, integration_id } = await newIntegration(api);
  const at = Date.now();
  const id = newId('dlq', at);
  const event_id = `event-${++made}`;
  const about = { at, org_id: api.org_id, pipeline_id, event_id, type: 'track' as const, event: 'Order Completed' };
  const iso = (ms: number) => new Date(ms).toISOString();
  const dead_letter = {
    id,
    org_id: api.org_id,
    pipeline_id,
    integration_id,
    webhook_source_id: null,
    vendor: 'webhook',
    revision_number: 1,
    event_id,
    stage: 'delivery' as const,
    event: { event_id, type: 'track' as const, event: 'Order Completed', timestamp: iso(at), context: {} },
    attempts: [{ at: iso(at), status: 500, error: null, duration_ms: 5 }],
    reason: 'http_500',
    created_at: iso(at),
    expires_at: iso(at + 86_400_000 * 365),
  };
  await api.record([
    { kind: 'processed', received_at: at, decisions: [], ...about },
    { kind: 'dead_lettered', dead_letter, ...about },
  ]);
  return { id, event_id, integration_id };
}

export const FIXTURES: Record<string, Fixture> = {
  '/v1/admin/audit-logs/:id': {
    create: async (api, parent) => {
      await newPipeline(api);
      const { audit_logs } = (await api('GET', `${parent}?limit=1`)).body as { audit_logs: { id: string }[] };
      return String(audit_logs[0]?.id);
    },
    permanent: true,
  },
  '/v1/admin/dlq/:id': { create: async (api) => (await newDeadLetter(api)).id },
  '/v1/admin/events/:event_id': { create: async (api) => (await newDeadLetter(api)).event_id, permanent: true },
  '/v1/admin/integration-catalog/:vendor': { create: async () => 'webhook', shared: true },
  '/v1/admin/integration-templates/:id': { create: newTemplate },
  '/v1/admin/integrations/:id': {
    create: async (api, parent) =>
      idOf(createAt(api, parent, { source_id: await newPipeline(api), name: `Integration ${++made}`, ...OAUTH_INTEGRATION })),
    permanent: true,
  },
  '/v1/admin/integration-templates/:id/revisions/:number': { create: async () => '1', permanent: true },
  '/v1/admin/pipelines/:id/integrations/:integration_id': {
    create: async (api, parent) => idOf(createAt(api, parent, { template_id: await newTemplate(api) })),
  },
  '/v1/admin/pipelines/:id/transformations/:transformation_id': {
    create: (api, parent) => idOf(createAt(api, parent, { name: `Transformation ${++made}`, kind: 'rules', rules: [] })),
  },
  '/v1/admin/alerts/:id': {
    create: (api, parent) =>
      idOf(
        createAt(api, parent, {
          name: `Alert ${++made}`,
          kind: 'failing',
          threshold: 1,
          window_minutes: 5,
          channels: [{ type: 'webhook', url: NOWHERE }],
        }),
      ),
  },
  '/v1/admin/test-cases/:id': {
    create: (api, parent) => idOf(createAt(api, parent, { name: `Case ${++made}`, event: { type: 'track', event: 'A' } })),
  },
  '/v1/admin/webhook-sources/:id': {
    create: async (api, parent) =>
      idOf(createAt(api, parent, { name: `Source ${++made}`, source_type: 'payment_processor', pipeline_id: await newPipeline(api) })),
  },
  '/v1/admin/pipelines/:id': { create: (api, parent) => idOf(createAt(api, parent, { name: `Pipeline ${++made}` })) },
  '/v1/admin/api-tokens/:id': {
    create: (api, parent) => idOf(createAt(api, parent, { name: `Token ${++made}`, role: 'viewer' })),
  },
  '/v1/admin/users/:id': {
    create: (api, parent) => idOf(createAt(api, parent, { email: `fixture${++made}@example.com`, password: PASSWORD, role: 'viewer' })),
  },
};

/** Routes that need a resource of a certain kind: by the whole URL, for its only parameter. */
const OF_ROUTE: Record<string, Fixture> = {
  '/v1/admin/integration-templates/:id/connect': {
    create: async (api, parent) => {
      const { template } = (await createAt(api, parent, { name: `Template ${++made}`, ...OAUTH_INTEGRATION })) as {
        template: { id: string };
      };
      return template.id;
    },
  },
};

/** Set-up that a route needs before it can succeed. */
const PREPARED: Record<string, (api: Api, path: string) => Promise<void>> = {
  '/v1/admin/pipelines/:id/collector/download': async (api, path) => {
    const collector = path.slice(0, path.lastIndexOf('/'));
    await api('POST', `${collector}/build`);
    while ((await api('GET', `${collector}/status`)).body.status === 'building') await new Promise((resolve) => setTimeout(resolve, 20));
  },
};

/** Bodies that must name the caller's resources. Every other route uses the example of its schema. */
export const BODIES: Record<string, (api: Api, path: string) => Promise<object>> = {
  'POST /v1/admin/users/me/totp/confirm': async () => {
    const secret = newTotpSecret();
    const bytes = readTotpSecret(secret);
    if (bytes === undefined) throw new Error('A new secret cannot be read.');
    return { current_password: PASSWORD, secret, code: totpCode(bytes, stepAt(Date.now())) };
  },
  'POST /v1/admin/integration-catalog/:vendor/install': async () => ({ name: 'Installed', config: { url: NOWHERE } }),
  'POST /v1/admin/pipelines/:id/integrations': async (api) => ({ template_id: await newTemplate(api) }),
  'POST /v1/admin/integrations': async (api) => ({
    source_id: await newPipeline(api),
    vendor: 'webhook',
    name: 'One step',
    enabled: true,
    config: { url: NOWHERE },
  }),
  'POST /v1/admin/integration-templates/:id/revisions/diff': async (api) => ({ from: 1, to: 1, pipeline_id: await newPipeline(api) }),
  'POST /v1/admin/pipelines/:id/integrations/:integration_id/replay': async () => ({
    from: '2026-05-01T00:00:00.000Z',
    to: '2026-05-02T00:00:00.000Z',
  }),
  'POST /v1/admin/dlq/replay': async (api) => ({ integration_id: (await newDeadLetter(api)).integration_id }),
  'POST /v1/admin/webhook-sources': async (api) => ({
    name: 'Payments',
    source_type: 'payment_processor',
    pipeline_id: await newPipeline(api),
  }),
  'PUT /v1/admin/pipelines/:id/transformations/order': async (api, path) => {
    const listed = await api('GET', path.replace(/\/order$/, ''));
    return { ids: (listed.body.transformations as { id: string }[]).map(({ id }) => id) };
  },
};
/** A valid body for the route; undefined if it has none. */
export async function bodyFor(
  api: Api,
  route: { method: string; url: string; schema: { body?: unknown } },
  path: string,
): Promise<unknown> {
  if (route.schema.body === undefined) return undefined;
  const made = BODIES[`${route.method} ${route.url}`];
  return made === undefined ? exampleOf(route) : await made(api, path);
}
/** A copy with unique e-mail addresses, which may exist only once. */
export function exampleOf(route: { schema: { body?: unknown } }): unknown {
  const example = (route.schema.body as { examples?: unknown[] } | undefined)?.examples?.[0];
  return example === undefined ? undefined : JSON.parse(JSON.stringify(example).replaceAll('@example.com', `${++made}@example.com`));
}

/** The parameters of a route's URL with the path that leads to each: `[['/v1/admin/pipelines', ':id'], …]`. */
export function parametersOf(url: string): { key: string; parent: string; name: string }[] {
  const parts = url.split('/');
  return parts.flatMap((part, at) =>
    part.startsWith(':') ? [{ key: parts.slice(0, at + 1).join('/'), parent: parts.slice(0, at).join('/'), name: part }] : [],
  );
}

/** The route's URL with a new resource for each parameter. */
export async function makePath(api: Api, url: string): Promise<string> {
  let path = '';
  let done = '';
  for (const { key, parent } of parametersOf(url)) {
    path += parent.slice(done.length);
    const fixture = OF_ROUTE[url] ?? FIXTURES[key];
    if (fixture === undefined) throw new Error(`No fixture makes ${key}.`);
    path += `/${encodeURIComponent(await fixture.create(api, path))}`;
    done = key;
  }
  path += url.slice(done.length);
  await PREPARED[url]?.(api, path);
  return path;
}
