import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import { API_ERRORS } from '../../http/errors.ts';
import { openApiPath, refusalCodes } from '../../http/openapi.ts';
import type { UserRole } from '../../stores/config/schema.ts';
import { ROLE_ORDER, type RouteEntry, roleReaches } from './deps.ts';
import { apiOf, bodyFor, exampleOf, FIXTURES, makePath, parametersOf } from './testing/fixtures.ts';
import { type Harness, startHarness, type TestOrganisation } from './testing/harness.ts';

const isApi = (route: RouteEntry) => route.config.undocumented !== true;
const named = (route: RouteEntry) => `${route.method} ${route.url}`;

onBothEngines('every route', (fresh, engine) => {
  let harness: Harness;
  let own: TestOrganisation;
  let foreign: TestOrganisation;
  const tokens = {} as Record<UserRole, string>;
  let routes: RouteEntry[];

  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    own = await harness.newOrganisation();
    foreign = await harness.newOrganisation();
    for (const role of ROLE_ORDER) tokens[role] = (await own.user(role)).token;
    routes = harness.app.routeTable.filter(isApi);
  });
  afterAll(() => harness?.close());

  test('has what the walk needs: a fixture for each parameter, an example for each body', () => {
    const parameters = routes.flatMap((route) => parametersOf(route.url).map(({ key }) => key));
    expect(parameters.filter((key) => FIXTURES[key] === undefined)).toEqual([]);
    expect(routes.filter((route) => route.schema.body !== undefined && exampleOf(route) === undefined).map(named)).toEqual([]);
  });

  test('refuses a missing token, and a role that is too low, before anything else', async () => {
    for (const route of routes) {
      if (route.role === 'public') continue;
      const path = route.url.replace(/:[a-z_]+/g, 'nonsense');
      const anonymous = await harness.call(route.method, path);
      expect([anonymous.status, anonymous.body.error.code], named(route)).toEqual([401, 'INVALID_TOKEN']);
      for (const role of ROLE_ORDER) {
        if (roleReaches(role, route.role)) continue;
        const answer = await harness.call(route.method, path, { token: tokens[role], body: exampleOf(route) });
        expect([answer.status, answer.body.error.code], `${named(route)} as ${role}`).toEqual([403, 'FORBIDDEN']);
      }
    }
  });

  // Who may do what does not depend on the database: on PostgreSQL the owner is enough.
  test.each(
    engine === 'sqlite' ? ROLE_ORDER : (['owner'] as const),
  )('serves the own resource to every role that may, with a documented status: %s', async (role) => {
    for (const route of routes) {
      if (route.role === 'public' || !roleReaches(role, route.role)) continue;
      const documented = new Set([
        ...Object.keys(route.schema.response as object).map(Number),
        ...refusalCodes(route).map((code) => API_ERRORS[code].status),
      ]);
      const path = await makePath(apiOf(harness, own), route.url);
      const body = await bodyFor(apiOf(harness, own), route, path);
      const answer = await harness.call(route.method, path, { token: tokens[role], body });
      const where = `${named(route)} as ${role}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
      expect(answer.status, where).toBeLessThan(300);
      expect(documented.has(answer.status), where).toBe(true);
      expect(answer.headers['x-request-id'], where).toBeTruthy();
    }
  });

  test("knows neither another organisation's resource, nor a deleted one, nor nonsense", async () => {
    for (const route of routes) {
      const parameters = parametersOf(route.url);
      const last = parameters.at(-1);
      if (route.role === 'public' || last === undefined) continue;
      const fixture = FIXTURES[last.key]!;
      const paths: [string, string][] = [];
      const ownPath = await makePath(apiOf(harness, own), route.url);
      const tail = route.url.slice(last.key.length);
      const upToLast = ownPath.slice(0, ownPath.length - tail.length);
      for (const nonsense of ['nonsense', "' or 1=1 --", '%00', '__proto__', '999999999999999999999', '-1', 'a'.repeat(200)])
        paths.push([
          `nonsense ${nonsense}`,
          `${upToLast.slice(0, upToLast.lastIndexOf('/'))}/${nonsense.startsWith('%') ? nonsense : encodeURIComponent(nonsense)}${tail}`,
        ]);
      if (fixture.shared !== true) paths.push(['foreign', await makePath(apiOf(harness, foreign), route.url)]);
      if (fixture.shared !== true && fixture.permanent !== true) {
        const removed = await harness.call('DELETE', upToLast, { token: own.owner.token });
        expect(removed.status, `DELETE ${upToLast}`).toBeLessThan(300);
        paths.push(['deleted', ownPath]);
      }
      const body = await bodyFor(apiOf(harness, own), route, await makePath(apiOf(harness, own), route.url));
      for (const [kind, path] of paths) {
        const answer = await harness.call(route.method, path, { token: tokens.owner, body });
        expect([answer.status, answer.body.error?.code], `${named(route)}, ${kind}: ${JSON.stringify(answer.body).slice(0, 200)}`).toEqual([
          404,
          'NOT_FOUND',
        ]);
      }
    }
  });

  test('leaves exactly one audit entry for each write that succeeds, none for one that fails, and the chain is whole', async () => {
    for (const route of routes) {
      if (route.role === 'public') continue;
      const path = await makePath(apiOf(harness, own), route.url);
      const body = await bodyFor(apiOf(harness, own), route, path);
      const before = await auditCount();
      const answer = await harness.call(route.method, path, { token: own.owner.token, body });
      const written = (await auditCount()) - before;
      const writes = route.method !== 'GET' && route.config.unaudited !== true && answer.status < 300;
      expect(written, `${named(route)}: ${answer.status}`).toBe(writes ? 1 : 0);
    }
    const verdict = await harness.call('GET', 'audit-logs/verify', { token: own.owner.token });
    expect(verdict.body).toEqual({ valid: true, checked: await auditCount(), first_invalid_id: null });
  });

  async function auditCount(): Promise<number> {
    const head = await harness.store.db.selectFrom('audit_heads').select('seq').where('org_id', '=', own.org_id).executeTakeFirstOrThrow();
    return head.seq;
  }
});

test('every schema of a route is a valid JSON schema', async () => {
  const harness = await startHarness();
  // The service does not check its own schemas, because that would take 50 ms of somebody's first request.
  const checker = new Ajv({ strict: false });
  const wrong = harness.app.routeTable.flatMap((route) =>
    [route.schema.body, route.schema.querystring, route.schema.params, ...Object.values(route.schema.response ?? {})]
      .filter((schema) => schema !== undefined && checker.validateSchema(schema as object) !== true)
      .map(() => `${named(route)}: ${checker.errorsText()}`),
  );
  await harness.close();
  expect(wrong).toEqual([]);
});

describe('the OpenAPI document', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.close());

  test('has every route, with its role, examples and all statuses', async () => {
    const { body } = await harness.call('GET', '/v1/admin/openapi.json');
    const document = body as unknown as OpenApi;
    expect(document.openapi).toBe('3.1.0');
    const missing = harness.app.routeTable
      .filter(isApi)
      .filter((route) => document.paths[openApiPath(route.url)]?.[route.method.toLowerCase()] === undefined);
    expect(missing.map(named)).toEqual([]);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const operation of operations) {
      expect(operation.summary).toBeTruthy();
      expect(Object.keys(operation.responses).some((status) => /^[23]/.test(status))).toBe(true);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['429', '500', '503']));
      if (operation.security.length > 0) expect(operation.responses['401']).toBeDefined();
    }
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([
    ['POST', 'integrations', { source_id: 'pl_nobody', vendor: 'webhook', name: 'W', config: { url: 'https://hooks.example' } }],
    ['POST', 'webhook-sources', { pipeline_id: 'pl_nobody', name: 'S', source_type: 'crm' }],
    ['POST', 'dlq/replay', { integration_id: 'int_nobody' }],
    ['GET', 'stats?pipeline_id=pl_nobody', undefined],
  ])('says so where an id in the body or the query may be unknown: %s %s', async (method, path, sent) => {
    const { token } = await (await harness.newOrganisation()).user('owner');
    expect((await harness.call(method, `/v1/admin/${path}`, { token, ...(sent ? { body: sent } : {}) })).status).toBe(404);
    const { body } = await harness.call('GET', '/v1/admin/openapi.json');
    const operation = (body as unknown as OpenApi).paths[`/v1/admin/${path.split('?')[0]}`]?.[method.toLowerCase()];
    expect(operation?.responses['404']).toBeDefined();
  });

  test('takes the paths of the collection side', async () => {
    harness.app.addToOpenApi({ '/v1/t': { post: { summary: 'Track', responses: {} } } });
    const { body } = await harness.call('GET', '/v1/admin/openapi.json');
    expect((body as unknown as OpenApi).paths['/v1/t']?.post).toBeDefined();
  });
});
interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; summary: string; security: object[]; responses: Record<string, object> }>>;
}
