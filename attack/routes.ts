/**
 * `npm run attack -- routes`: calls every route of the OpenAPI document on a large installation, then the heaviest requests that are valid,
 * and prints which of them held the event loop for more than 50 ms. `ROUTES_SIZE=1000,10,50000` is the number of pipelines, integrations in
 * each, and events.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../e2e/harness/client.ts';
import { type LargeInstallation, largePlan, startLargeInstallation } from './large-installation.ts';
import { type Stall, watchStalls } from './target.ts';

interface Operation {
  method: string;
  path: string;
  query: { name: string; schema?: { maximum?: number } }[];
  body: unknown;
}
interface Document {
  paths: Record<string, Record<string, { parameters?: (Operation['query'][number] & { in: string })[]; requestBody?: Bodies }>>;
  components: { schemas: Record<string, { examples?: unknown[] }> };
}
interface Bodies {
  content: Record<string, { schema: { $ref?: string; examples?: unknown[] } }>;
}
interface Called {
  name: string;
  status: number;
  ms: number;
  stalls: readonly (Stall & { gc: number })[];
}

/** Reads first, deletions last, and what ends the session or disables it not at all. */
const ORDER = ['GET', 'POST', 'PUT', 'DELETE'];
const LEFT_OUT = /\/auth\/session|\/users\/me\/(password|totp)|\/debug\/live/;
/** The service reports a stall within 40 ms of its end, and loads a change within a second. */
const REPORTED_MS = 60;
const LOADED_MS = 1_100;

export async function walkRoutes(): Promise<{ cases: number; faults: string[] }> {
  const [pipelines = 1_000, integrationsPerPipeline = 10, events = 50_000] = (process.env.ROUTES_SIZE ?? '1000,10,50000')
    .split(',')
    .map(Number);
  let requests = 0;
  const vendor = createServer((req, res) => {
    requests++;
    req.resume().on('end', () => res.writeHead(req.url === '/refuse' ? 400 : 200).end());
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/`;
  const large = await startLargeInstallation({ pipelines, integrationsPerPipeline, events }, { url, requests: () => requests });
  try {
    console.log(`routes: ${pipelines} pipelines, ${pipelines * integrationsPerPipeline} integrations, ${events} events`);
    const called: Called[] = [];
    const operations = await operationsOf(large);
    const deletions = operations.filter(({ method }) => method === 'DELETE');
    for (const operation of [...operations.filter(({ method }) => method !== 'DELETE'), ...heaviest(large), ...deletions]) {
      const one = await callOnce(large, operation);
      print(one);
      called.push(one);
    }
    const longest = Math.max(0, ...called.flatMap(({ stalls }) => stalls.map(({ cpu }) => cpu)));
    console.log(`routes: ${called.length} requests, longest stall by own work ${longest} ms`);
    const faults = called.filter(({ status }) => status >= 500).map(({ name, status }) => `${name}: ${status}`);
    if (large.service.ended() !== undefined) faults.push('the process ended');
    return { cases: called.length, faults };
  } finally {
    await large.service.stop();
    vendor.close();
  }
}

async function operationsOf(large: LargeInstallation): Promise<Operation[]> {
  const document = (await (await fetch(`${large.service.url}/v1/admin/openapi.json`)).json()) as Document;
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
      const named = schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.slice('#/components/schemas/'.length)];
      const query = parameters.filter((parameter) => parameter.in === 'query');
      return { method: method.toUpperCase(), path, query, body: named?.examples?.[0] };
    }),
  );
  return found
    .filter(({ path }) => !LEFT_OUT.test(path))
    .toSorted((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method) || (a.method === 'DELETE' ? b.path.length - a.path.length : 0));
}

/** The path with the ids of the large installation, and lists as long as they may be. */
async function addressOf(large: LargeInstallation, { path, query }: Operation): Promise<string> {
  const { client, pipelineId, integrationId, templateId, webhookSourceId, key } = large;
  const ids: [RegExp, string | (() => Promise<string>)][] = [
    [/(?<=\/pipelines\/)\{id\}/, pipelineId],
    [/(?<=\/integrations\/)\{(integration_)?id\}/, integrationId],
    [/(?<=\/integration-templates\/)\{id\}/, templateId],
    [/(?<=\/webhook-sources\/)\{id\}/, webhookSourceId],
    [/\{transformation_id\}/, () => firstOf(client, `/pipelines/${pipelineId}/transformations`)],
    [/(?<=\/integration-catalog\/)\{vendor\}/, 'webhook'],
    [/(?<=\/dlq\/)\{id\}/, () => firstOf(client, '/dlq')],
    [/\{event_id\}/, 'order-10'],
    [/\{number\}/, '1'],
    [/\{(pipeline_)?key\}/, key],
    [/\{script_filename\}/, 'd.js'],
    [/\{version_hash\}/, '0'],
    [/(?<=\/(users|api-tokens|test-cases|alerts)\/)\{id\}/, () => firstOf(client, `/${path.split('/')[3]}`)],
  ];
  let address = path;
  for (const [part, id] of ids) if (part.test(address)) address = address.replace(part, typeof id === 'string' ? id : await id());
  const limit = query.find(({ name }) => name === 'limit')?.schema?.maximum;
  return limit === undefined ? address : `${address}?limit=${limit}`;
}

async function firstOf(client: Client, list: string): Promise<string> {
  const { body } = await client.call('GET', `${list}?limit=1`);
  const [first] = Object.values(body as Record<string, unknown>).find((value) => Array.isArray(value)) as { id: string }[];
  return first?.id ?? 'none';
}

async function callOnce(large: LargeInstallation, operation: Operation): Promise<Called> {
  const { service, client, key } = large;
  const { method, path } = operation;
  const address = await addressOf(large, operation);
  await sleep(REPORTED_MS);
  const stalls = watchStalls(service, { quiet: true });
  const began = performance.now();
  const reply = await fetch(`${service.url}${address}`, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${path.startsWith('/v1/admin') ? client.token : key}`,
      ...(operation.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(operation.body === undefined ? {} : { body: JSON.stringify(operation.body) }),
  });
  await reply.arrayBuffer();
  const ms = performance.now() - began;
  await sleep(method === 'GET' ? REPORTED_MS : LOADED_MS);
  stalls.stop();
  return { name: `${method} ${path}`, status: reply.status, ms, stalls: stalls.all };
}

/** Valid requests of the largest size, and reads over everything. */
function heaviest({ pipelineId, templateId, integrationId }: LargeInstallation): Operation[] {
  const admin = (method: string, path: string, body?: unknown): Operation => ({ method, path: `/v1/admin${path}`, query: [], body });
  const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  // 18,000 of the 20,000 values that a document may have.
  const mappings = (n: number) => many(1_000, (i) => ({ source: `properties.a_${n}_${i}`, target: `b_${i}` }));
  const config = { url: 'http://127.0.0.1:9/', events: Object.fromEntries(many(6, (n) => [`Event ${n}`, { mappings: mappings(n) }])) };
  const event = {
    type: 'track',
    event: 'E',
    properties: Object.fromEntries(many(15_000, (i) => [`a_${i}`, `a text of some length ${i}`])),
  };
  const now = Date.now();
  const range = `from=${new Date(now - 30 * 86_400_000).toISOString()}&to=${new Date(now).toISOString()}`;
  return [
    admin('GET', `/stats?${range}&interval=hour&group_by=integration`),
    admin('GET', `/stats?${range}&interval=hour&group_by=pipeline&fill=true`),
    admin('GET', '/events?limit=200&anonymous_id=visitor-1'),
    admin('GET', '/pipelines?search=shop&limit=200'),
    admin('GET', `/events?limit=200&${range}&integration_id=${integrationId}&delivery=dead_lettered`),
    admin('PUT', `/pipelines/${pipelineId}/tracking-plan`, largePlan(6_000)),
    admin('GET', `/pipelines/${pipelineId}/tracking-plan`),
    admin('POST', '/integration-templates', { name: 'Large', vendor: 'webhook', config }),
    admin('POST', `/integration-templates/${templateId}/revisions`, { config }),
    admin('GET', `/integration-templates/${templateId}/revisions?limit=100`),
    admin('POST', `/integration-templates/${templateId}/revisions/diff`, { from: 1, to: 2, pipeline_id: pipelineId }),
    admin('POST', '/mapping/preview', { vendor: 'webhook', config, event }),
    admin('POST', '/test-cases', { name: 'Large', event }),
    admin('GET', '/test-cases?limit=100'),
    admin('POST', '/transformations/test', { kind: 'code', code: 'function transform(event) { return event }', event }),
    admin('POST', `/pipelines/${pipelineId}/transformations`, {
      name: 'Large',
      kind: 'code',
      enabled: true,
      code: `${'// a line\n'.repeat(6_000)}function transform(event) { return event }`,
    }),
    admin('POST', `/pipelines/${pipelineId}/integrations/${integrationId}/test`, { event }),
    admin('POST', `/pipelines/${pipelineId}/integrations/${integrationId}/replay`, {
      from: new Date(now - 86_400_000).toISOString(),
      to: new Date(now).toISOString(),
    }),
    admin('POST', '/dlq/replay', { pipeline_id: pipelineId }),
    admin('POST', '/privacy/erasure', { anonymous_id: 'visitor-1' }),
    admin('GET', '/audit-logs/verify'),
    admin('PUT', '/data-layer', { config: { bot_filtering: { custom_patterns: many(100, (i) => `bot[a-z]{1,10}${i}`) } } }),
    admin('PUT', `/pipelines/${pipelineId}`, { enabled: false }),
  ];
}

function print({ name, status, ms, stalls }: Called): void {
  const stalled = stalls
    .map(({ wall, cpu, gc, step }) => `; STALL ${wall} ms, own work ${cpu} ms (garbage collection ${gc}) in ${step}`)
    .join('');
  console.log(`  ${name}: ${status} in ${Math.round(ms)} ms${stalled}`);
}
