/**
 * How to make one of everything that stands in a path, by the path up to its parameter. The walk over all routes uses them to try each
 * route on the caller's own resource, another organisation's, a deleted one and none at all; a route whose parameter is missing here
 * fails the walk.
 */
import { PASSWORD } from './harness.ts';

export type Api = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Record<string, unknown> }>;

export interface Fixture {
  /** Makes one below `parent` (the path that leads to it, ids filled in) and returns what stands in the path. */
  create(api: Api, parent: string): Promise<string>;
  /** The same for everybody (the catalog): there is no other organisation's, and nothing to delete. */
  shared?: true;
  /** Cannot be deleted (a revision). */
  permanent?: true;
}

let made = 0;
async function createAt(api: Api, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await api('POST', path, body);
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const idOf = async (body: Promise<Record<string, unknown>>) => String((await body).id);

/** A webhook template: its vendor is always in the catalog and asks for nothing but a URL. */
const newTemplate = async (api: Api): Promise<string> => {
  const body = { name: `Template ${++made}`, vendor: 'webhook', config: { url: 'https://hooks.example/in' } };
  const { template } = (await createAt(api, '/v1/admin/integration-templates', body)) as { template: { id: string } };
  return template.id;
};
const newPipeline = (api: Api) => idOf(createAt(api, '/v1/admin/pipelines', { name: `Pipeline ${++made}` }));

export const FIXTURES: Record<string, Fixture> = {
  '/v1/admin/integration-catalog/:vendor': { create: async () => 'webhook', shared: true },
  '/v1/admin/integration-templates/:id': { create: newTemplate },
  '/v1/admin/integration-templates/:id/revisions/:number': { create: async () => '1', permanent: true },
  '/v1/admin/pipelines/:id/integrations/:integration_id': {
    create: async (api, parent) => idOf(createAt(api, parent, { template_id: await newTemplate(api) })),
  },
  '/v1/admin/pipelines/:id/transformations/:transformation_id': {
    create: (api, parent) => idOf(createAt(api, parent, { name: `Transformation ${++made}`, kind: 'rules', rules: [] })),
  },
  '/v1/admin/webhook-sources/:id': {
    create: async (api, parent) =>
      idOf(createAt(api, parent, { name: `Source ${++made}`, source_type: 'payment_processor', pipeline_id: await newPipeline(api) })),
  },
  '/v1/admin/pipelines/:id': { create: (api, parent) => idOf(createAt(api, parent, { name: `Pipeline ${++made}` })) },
  '/v1/admin/users/:id': {
    create: (api, parent) => idOf(createAt(api, parent, { email: `fixture${++made}@example.com`, password: PASSWORD, role: 'viewer' })),
  },
};

/** Bodies that must name resources of the caller; every other route is tried with the example of its own schema. */
export const BODIES: Record<string, (api: Api, path: string) => Promise<object>> = {
  'POST /v1/admin/integration-catalog/:vendor/install': async () => ({ name: 'Installed', config: { url: 'https://hooks.example/in' } }),
  'POST /v1/admin/pipelines/:id/integrations': async (api) => ({ template_id: await newTemplate(api) }),
  'POST /v1/admin/integrations': async (api) => ({
    source_id: await newPipeline(api),
    vendor: 'webhook',
    name: 'One step',
    enabled: true,
    config: { url: 'https://hooks.example/in' },
  }),
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
/** A body that a route takes on this path: undefined for a route without one. */
export async function bodyFor(
  api: Api,
  route: { method: string; url: string; schema: { body?: unknown } },
  path: string,
): Promise<unknown> {
  if (route.schema.body === undefined) return undefined;
  const made = BODIES[`${route.method} ${route.url}`];
  return made === undefined ? exampleOf(route) : await made(api, path);
}
/** A new copy each time, its addresses made unique: most resources may exist only once. */
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

/** The route's URL with a freshly made resource for each parameter. */
export async function makePath(api: Api, url: string): Promise<string> {
  let path = '';
  let done = '';
  for (const { key, parent } of parametersOf(url)) {
    path += parent.slice(done.length);
    path += `/${encodeURIComponent(await FIXTURES[key]!.create(api, path))}`;
    done = key;
  }
  return path + url.slice(done.length);
}
