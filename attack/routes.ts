/**
 * `npm run attack -- routes`: calls every route of the OpenAPI document on a large installation, then the heaviest requests that are valid,
 * each again and again beside 100 events a second. Prints the longest turn of the event loop beside each, by its processor time. Above 5 % steal
 * the calls of a route are repeated.
 * `ROUTES_SIZE=1000,10,50000` is the number of pipelines, integrations in each, and events. `ROUTES='^PUT|preview'` chooses
 * routes by method and path.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_STEAL_PERCENT, watchConditions } from '../bench/conditions.ts';
import { type Client, send } from '../e2e/harness/client.ts';
import { type LargeInstallation, largePlan, startLargeInstallation } from './large-installation.ts';
import { TURNS_MARK, type TurnFigures } from './turn-watch.ts';

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
  calls: number;
  turns: TurnFigures;
  /** Share of the processor time that the hypervisor gave to other machines. It counts as processor time of the turns. */
  stealPercent: number;
}

/** Reads first, deletions last, and what ends the session or disables it not at all. */
const ORDER = ['GET', 'POST', 'PUT', 'DELETE'];
const LEFT_OUT = /\/auth\/session|\/users\/me\/(password|totp)|\/debug\/live/;
/** Calls of a read, of a change, and of what can be done only once. The first ones run code that is not compiled yet. */
const CALLS: Record<string, number> = { GET: 20, POST: 6, PUT: 6, DELETE: 1 };
const AT_MOST_MS = 10_000;
/** The service loads a change within a second. */
const LOADED_MS = 1_100;
const EVENTS_PER_SECOND = 100;
/** Without a request: turns that are long all the same. */
const ALONE_MS = 60_000;
/** The calls of a route are repeated while the hypervisor took the processors away. */
const MOST_REPEATS = 5;
const CHOSEN = new RegExp(process.env.ROUTES ?? '');

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
  const watch = { NODE_OPTIONS: `--import ${join(import.meta.dirname, 'turn-watch.ts')}`, WATCH_TURNS: '1' };
  const size = { pipelines, integrationsPerPipeline, events };
  const large = await startLargeInstallation(size, { url, requests: () => requests }, watch);
  const sender = sendSteadily(large);
  try {
    console.log(`routes: ${pipelines} pipelines, ${pipelines * integrationsPerPipeline} integrations, ${events} events`);
    const called: Called[] = [];
    const operations = await operationsOf(large);
    const deletions = operations.filter(({ method }) => method === 'DELETE');
    const all = [...operations.filter(({ method }) => method !== 'DELETE'), ...heaviest(large), ...deletions];
    await takeFigures(large);
    const alone = watchConditions();
    await sleep(ALONE_MS);
    print({ name: 'no request', status: 200, calls: 0, turns: await takeFigures(large), stealPercent: alone().stealPercent });
    for (const operation of all.filter(({ method, path }) => CHOSEN.test(`${method} ${path}`))) {
      let one = await callOften(large, operation);
      // What can be done only once is not repeated.
      const repeats = CALLS[operation.method] === 1 ? 0 : MOST_REPEATS;
      for (let i = 0; i < repeats && one.stealPercent > MAX_STEAL_PERCENT; i++) one = await callOften(large, operation);
      print(one);
      called.push(one);
    }
    const longest = Math.max(0, ...called.map(({ turns }) => turns.longest));
    console.log(`routes: ${called.length} routes, ${sender.sent()} events sent, longest turn ${longest} ms of processor time`);
    const faults = called.filter(({ status }) => status >= 500).map(({ name, status }) => `${name}: ${status}`);
    if (large.service.ended() !== undefined) faults.push('the process ended');
    return { cases: called.length, faults };
  } finally {
    sender.stop();
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

async function callOften(large: LargeInstallation, operation: Operation): Promise<Called> {
  const { service, client, key } = large;
  const { method, path, body } = operation;
  const address = await addressOf(large, operation);
  const most = CALLS[method] ?? 1;
  const headers = {
    authorization: `Bearer ${path.startsWith('/v1/admin') ? client.token : key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const init: RequestInit = { method, redirect: 'manual', headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  await takeFigures(large);
  const conditions = watchConditions();
  const until = performance.now() + AT_MOST_MS;
  let status = 0;
  let calls = 0;
  for (; calls < most && performance.now() < until; calls++) {
    const reply = await fetch(`${service.url}${address}`, init);
    await reply.arrayBuffer();
    // The worst status of all.
    status = Math.max(status, reply.status);
  }
  if (method !== 'GET') await sleep(LOADED_MS);
  const turns = await takeFigures(large);
  return { name: `${method} ${path}`, status, calls, turns, stealPercent: conditions().stealPercent };
}

/** The figures since the last call. */
async function takeFigures({ service }: LargeInstallation): Promise<TurnFigures> {
  const last = () => {
    const line = service
      .output()
      .split('\n')
      .slice(0, -1)
      .findLast((one) => one.startsWith(TURNS_MARK));
    return line === undefined ? undefined : (JSON.parse(line.slice(TURNS_MARK.length)) as TurnFigures);
  };
  const before = last()?.number;
  process.kill(service.pid!, 'SIGUSR2');
  for (;;) {
    const figures = last();
    if (figures !== undefined && figures.number !== before) return figures;
    await sleep(5);
  }
}

function sendSteadily({ service, key }: LargeInstallation): { sent(): number; stop(): void } {
  let sent = 0;
  const prefix = `steady-${Date.now()}`;
  const timer = setInterval(() => {
    const messageId = `${prefix}-${sent++}`;
    // The service may restart or refuse while a route changes it: this is background work.
    send(service, key, '/v1/t', { type: 'track', event: 'Steady', messageId, properties: { total: 1 } }).catch(() => {});
  }, 1_000 / EVENTS_PER_SECOND);
  return { sent: () => sent, stop: () => clearInterval(timer) };
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
    // One after the other: together they have more values than a body may have.
    admin('POST', '/mapping/preview', { vendor: 'webhook', config, event: { type: 'track', event: 'Event 0' } }),
    admin('POST', '/mapping/preview', { vendor: 'webhook', config: { url: config.url }, event }),
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

function print({ name, status, calls, turns: { longest, gc, above10, above20 }, stealPercent }: Called): void {
  const steal = stealPercent > MAX_STEAL_PERCENT ? `, VOID: steal ${stealPercent.toFixed(0)} %` : '';
  const more = above10 === 0 ? '' : ` (garbage collection ${gc}); above 10 ms ${above10}, above 20 ms ${above20}${steal}`;
  console.log(`  ${name}: ${status} × ${calls}, longest turn ${longest} ms${more}`);
}
