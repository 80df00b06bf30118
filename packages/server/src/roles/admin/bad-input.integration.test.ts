import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import type { RouteEntry } from './deps.ts';
import { broken, NASTY, valid } from './testing/arbitraries.ts';
import { type Api, apiOf, makePath } from './testing/fixtures.ts';
import { type Answer, type Harness, startHarness, type TestOrganisation } from './testing/harness.ts';

/** `npm run test:long` draws more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 3);
const named = (route: RouteEntry) => `${route.method} ${route.url}`;

onBothEngines('bad input', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  let routes: RouteEntry[];
  let api: Api;
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
    api = apiOf(harness, org);
    // Logging in writes attempts whatever comes of it; its own suite looks at that.
    routes = harness.app.routeTable.filter((route) => route.config.undocumented !== true && route.role !== 'public');
  });
  afterAll(() => harness?.close());

  const send = (route: RouteEntry, path: string, body: unknown): Promise<Answer> =>
    harness.call(route.method, path, { token: org.owner.token, body });
  const paths = new Map<string, Promise<string>>();
  /** The path of a resource that stays, for requests that change nothing. */
  const lastingPath = (url: string): Promise<string> => {
    const path = paths.get(url) ?? makePath(api, url);
    paths.set(url, path);
    return path;
  };
  async function state(): Promise<unknown> {
    const version = await harness.store.db.selectFrom('config_version').selectAll().executeTakeFirst();
    const audit = await harness.store.db.selectFrom('audit_heads').selectAll().where('org_id', '=', org.org_id).execute();
    return { version, audit };
  }
  /** Refused in the one shape with nothing stored, or taken; never our fault. */
  async function expectSound(route: RouteEntry, path: string, body: unknown): Promise<void> {
    const before = await state();
    const answer = await send(route, path, body);
    const where = `${named(route)} ${JSON.stringify(body)?.slice(0, 500)} → ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
    expect(answer.status, where).toBeLessThan(500);
    expect(answer.headers['x-request-id'], where).toBeTruthy();
    if (answer.status < 400) return;
    expect(answer.body, where).toEqual({ error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }) });
    expect(answer.body.error.details?.length ?? 0, where).toBeLessThanOrEqual(20);
    // A wrong password is a failed login, and noted as one.
    if (answer.status !== 401) expect(await state(), where).toEqual(before);
  }

  test('bodies drawn from each schema, valid and broken, never surprise us', async () => {
    for (const route of routes) {
      if (route.schema.body === undefined) continue;
      const schema = route.schema.body as Parameters<typeof valid>[0];
      for (const bodies of [valid(schema), broken(schema)])
        await fc.assert(
          // The path is made anew, because a body that is taken may have renamed or disabled what the last one stood on.
          fc.asyncProperty(bodies, async (body) => expectSound(route, await makePath(api, route.url), body)),
          { numRuns: RUNS },
        );
    }
  }, 1_200_000);

  test('nasty text in every query parameter is refused or harmless', async () => {
    for (const route of routes) {
      const { properties } = (route.schema.querystring ?? {}) as { properties?: Record<string, unknown> };
      if (route.method !== 'GET' || properties === undefined) continue;
      const path = await makePath(api, route.url);
      for (const name of Object.keys(properties))
        for (const text of NASTY.filter((one) => one.isWellFormed())) {
          const answer = await api('GET', `${path}?${name}=${encodeURIComponent(text)}`);
          expect(answer.status, `${named(route)} ${name}=${text.slice(0, 60)} ${JSON.stringify(answer.body).slice(0, 200)}`).toBeOneOf([
            200, 404, 422,
          ]);
        }
    }
  });

  test.each([
    ['limit=abc', 422],
    ['limit=-1', 422],
    ['limit=1.5', 422],
    ['limit=', 422],
    ['limit=Infinity', 422],
    [`limit=${'9'.repeat(400)}`, 422],
    ['limit=1&limit=2', 422],
    ['offset=-1', 422],
    ['offset=x', 422],
    ['limit=0', 200],
    ['limit=101', 200],
    ['limit=99999999999999999999', 200],
    ['offset=99999999999999999999', 200],
    ['offset=9007199254740991', 200],
  ])('every list answers ?%s with %i', async (query, status) => {
    for (const route of routes) {
      const { properties } = (route.schema.querystring ?? {}) as { properties?: Record<string, unknown> };
      if (properties?.limit === undefined || properties.offset === undefined) continue;
      const answer = await api('GET', `${await lastingPath(route.url)}?${query}`);
      expect(answer.status, `${named(route)}?${query} ${JSON.stringify(answer.body).slice(0, 200)}`).toBe(status);
      if (query.startsWith('limit=') && status === 200 && query !== 'limit=0') expect(answer.body.limit).toBe(100);
    }
  });

  test.each([
    ['no JSON', '{"name":', 400, 'INVALID_JSON'],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'INVALID_JSON'],
    ['nothing', '', 400, 'INVALID_JSON'],
    ['null', 'null', 400, 'INVALID_JSON'],
    ['a list', '[]', 422, 'VALIDATION_ERROR'],
    ['a text', '"x"', 422, 'VALIDATION_ERROR'],
    ['a depth bomb', '['.repeat(100_000), 422, 'VALIDATION_ERROR'],
    ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 422, 'VALIDATION_ERROR'],
    ['a key named __proto__', '{"__proto__":{"role":"owner"}}', 422, 'VALIDATION_ERROR'],
    ['more than a megabyte', `{"name":"${'x'.repeat(1_048_577)}"}`, 413, 'PAYLOAD_TOO_LARGE'],
  ] as const)(
    'a body that is %s',
    async (_kind, body, status, code) => {
      for (const route of routes) {
        if (route.schema.body === undefined || route.config.anyJson === true) continue;
        const answer = await send(route, await lastingPath(route.url), body);
        expect([answer.status, answer.body.error?.code], named(route)).toEqual([status, code]);
      }
    },
    120_000,
  );

  test('a route without a body takes an empty object, and refuses fields that it would ignore', async () => {
    const bodiless = routes.filter(({ method, schema }) => method === 'POST' && schema.body === undefined);
    expect(bodiless.map(({ url }) => url)).toContain('/v1/admin/webhook-sources/:id/rotate-secret');
    for (const route of bodiless) {
      const path = await lastingPath(route.url);
      const answer = async (body: unknown) => {
        const { status, body: refused } = await send(route, path, body);
        return [status, refused.error?.code, refused.error?.details?.[0]?.field];
      };
      expect(await answer({ signing_secret: 'mine' }), named(route)).toEqual([422, 'VALIDATION_ERROR', 'signing_secret']);
      expect(await answer('[]'), named(route)).toEqual([422, 'VALIDATION_ERROR', '']);
      expect(await answer('{"signing'), named(route)).toEqual([400, 'INVALID_JSON', undefined]);
      expect((await answer({}))[0], named(route)).toBeLessThan(300);
    }
  });

  test('a body that is far too large is answered while its sender still writes', async () => {
    const server = createServer((req, res) => harness.app.routing(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const headers = { authorization: `Bearer ${org.owner.token}`, 'content-length': 4_000_000 };
      const sender = request({ port, path: '/v1/admin/pipelines', method: 'POST', headers });
      const broken: Error[] = [];
      sender.on('error', (error) => broken.push(error));
      sender.write(Buffer.alloc(1_000_000, 'x'));
      const answer = await new Promise<IncomingMessage>((resolve) => sender.once('response', resolve));
      expect([answer.statusCode, JSON.parse(await text(answer)).error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
      // Closed at once, the connection would break under what is still to come.
      await new Promise((resolve) => sender.end(Buffer.alloc(3_000_000, 'x'), () => resolve(undefined)).once('close', resolve));
      expect([broken, sender.writableFinished]).toEqual([[], true]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('a missing field is 400, a wrong or unknown one 422, each named', async () => {
    const answer = async (body: unknown) => {
      const { status, body: refused } = await api('POST', '/v1/admin/pipelines', body);
      const { code, details } = (refused as unknown as Answer['body']).error;
      return [status, code, details?.map(({ field }) => field)];
    };
    expect(await answer({})).toEqual([400, 'MISSING_FIELD', ['name']]);
    expect(await answer({ name: 5 })).toEqual([422, 'VALIDATION_ERROR', ['name']]);
    expect(await answer({ name: 'x', domain_alowlist: [] })).toEqual([422, 'VALIDATION_ERROR', ['domain_alowlist']]);
    expect(await answer({ name: 'x', labels: ['a', 1], rate_limit_rps: 0 })).toEqual([
      422,
      'VALIDATION_ERROR',
      ['labels[1]', 'rate_limit_rps'],
    ]);
    expect(await answer({ name: 'x', config: { ip_allowlist: ['10.0.0.0/8', 'nowhere'] } })).toEqual([
      422,
      'VALIDATION_ERROR',
      ['config.ip_allowlist[1]'],
    ]);
    expect(await answer({ name: 'a\u0000b' })).toEqual([422, 'VALIDATION_ERROR', ['name']]);
    expect(await answer(`{"name":"\\ud800"}`)).toEqual([422, 'VALIDATION_ERROR', ['name']]);
    const many = await answer({ name: 'x', labels: Array.from({ length: 60 }, (_, n) => n) });
    expect((many[2] as string[]).length).toBe(20);
  });

  test('an object that was read can be sent back to where it came from', async () => {
    for (const route of routes) {
      if (route.method !== 'PUT' || !routes.some((other) => other.method === 'GET' && other.url === route.url)) continue;
      const path = await makePath(api, route.url);
      const read = await api('GET', path);
      expect(read.status, `GET ${route.url}`).toBe(200);
      const answer = await send(route, path, read.body);
      expect(answer.status, `${named(route)}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(200);
      const { updated_at: _old, version: _v, updated_by: _b, ...before } = read.body;
      const { updated_at: _new, version: _w, updated_by: _c, ...after } = answer.body;
      // The answer of a change may leave out what only a reading adds.
      expect(before, named(route)).toMatchObject(after);
    }
  });

  test('what a POST answered can be sent to the PUT of the new object', async () => {
    const source_id = (await makePath(api, '/v1/admin/pipelines/:id')).split('/').at(-1);
    const pipeline = `/v1/admin/pipelines/${source_id}`;
    const webhook = { vendor: 'webhook', name: 'Hook', config: { url: 'https://hooks.example/in' } };
    const { template_id } = (await api('POST', '/v1/admin/integrations', { source_id, ...webhook })).body;
    const channels = [{ type: 'webhook', url: 'https://hooks.example/in' }];
    const created: [post: string, put: string, body: object][] = [
      ['/v1/admin/pipelines', '/v1/admin/pipelines', { name: 'Sent back', parameters: { API_KEY: 'a-key-of-the-vendor' } }],
      ['/v1/admin/users', '/v1/admin/users', { email: 'back@example.com', name: 'B', role: 'viewer', password: 'correct horse battery' }],
      ['/v1/admin/integrations', `${pipeline}/integrations`, { source_id, ...webhook }],
      [`${pipeline}/integrations`, `${pipeline}/integrations`, { template_id }],
      [`${pipeline}/transformations`, `${pipeline}/transformations`, { name: 'T', kind: 'rules', rules: [] }],
      ['/v1/admin/webhook-sources', '/v1/admin/webhook-sources', { pipeline_id: source_id, name: 'S', source_type: 'custom' }],
      ['/v1/admin/alerts', '/v1/admin/alerts', { name: 'A', kind: 'failing', threshold: 1, window_minutes: 5, channels }],
    ];
    for (const [post, put, body] of created) {
      const made = await api('POST', post, body);
      expect(made.status, `POST ${post}: ${JSON.stringify(made.body)}`).toBe(201);
      const answer = await api('PUT', `${put}/${made.body.id}`, made.body);
      expect(answer.status, `PUT ${put}: ${JSON.stringify(answer.body)}`).toBe(200);
      expect(made.body, put).toMatchObject({ ...answer.body, updated_at: expect.any(String) });
    }
    // Every other pair of POST and PUT is in the list above, except the template, whose answer has two objects.
    const posts = new Set(routes.filter(({ method }) => method === 'POST').map(({ url }) => url));
    const pairs = routes.filter(({ method, url }) => method === 'PUT' && posts.has(url.replace(/\/:\w+$/, ''))).map(({ url }) => url);
    const listed = new Set(created.map(([, put]) => put.replace(pipeline, '/v1/admin/pipelines/:id')));
    expect(pairs.map((url) => url.replace(/\/:\w+$/, '')).filter((url) => !listed.has(url))).toEqual(['/v1/admin/integration-templates']);
  });

  test('nothing polluted a prototype', () => {
    expect(({} as Record<string, unknown>).role).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('paths and methods', () => {
  let harness: Harness;
  let token: string;
  beforeAll(async () => {
    harness = await startHarness();
    token = (await harness.newOrganisation()).owner.token;
  });
  afterAll(() => harness.close());

  test.each([
    ['GET', '/v1/admin/nothing', 404, 'NOT_FOUND', undefined],
    ['GET', '/v1/admin', 404, 'NOT_FOUND', undefined],
    ['GET', '/v1/admin/pipelines/', 404, 'NOT_FOUND', undefined],
    ['GET', '/v1/admin/pipelines/%zz', 404, 'NOT_FOUND', undefined],
    ['GET', `/v1/admin/pipelines/${'x'.repeat(2_000)}`, 404, 'NOT_FOUND', undefined],
    ['GET', '/v1/admin/pipelines/..%2f..', 404, 'NOT_FOUND', undefined],
    ['PATCH', '/v1/admin/pipelines', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST'],
    ['QUERY', '/v1/admin/pipelines', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST'],
    ['DELETE', '/v1/admin/pipelines', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST'],
    ['POST', '/v1/admin/pipelines/pl_x', 405, 'METHOD_NOT_ALLOWED', 'DELETE, GET, HEAD, PUT'],
    ['OPTIONS', '/v1/admin/pipelines', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST'],
    // `Allow` listed the methods of the parameterised sibling route.
    ['POST', '/v1/admin/users/me', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD'],
    ['DELETE', '/v1/admin/users/me', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD'],
    ['GET', '/v1/admin/pipelines/pl_x/transformations/order', 405, 'METHOD_NOT_ALLOWED', 'PUT'],
    ['DELETE', '/v1/admin/dlq/replay', 405, 'METHOD_NOT_ALLOWED', 'POST'],
    ['POST', '/docs', 405, 'METHOD_NOT_ALLOWED', 'GET, HEAD'],
    ['GET', '/v1/admin/debug/live', 426, 'UPGRADE_REQUIRED', undefined],
  ])('%s %.60s is %i %s', async (method, path, status, code, allow) => {
    const answer = await harness.call(method, path, { token });
    expect([answer.status, answer.body.error?.code, answer.headers.allow]).toEqual([status, code, allow]);
    expect(answer.headers['x-request-id']).toBeTruthy();
  });

  test.each(['{"a":1}', '{"a"'])('a body is not read where there is no route: %s', async (body) => {
    expect((await harness.call('POST', '/v1/admin/nothing', { token, body })).status).toBe(404);
    expect((await harness.call('PATCH', '/v1/admin/pipelines', { token, body })).status).toBe(405);
  });

  test('a request id of the caller is kept where it is harmless', async () => {
    const id = async (sent: string) => (await harness.call('GET', '/docs', { headers: { 'x-request-id': sent } })).headers['x-request-id'];
    expect(await id('abc-123')).toBe('abc-123');
    expect(await id('a b<c>')).not.toBe('a b<c>');
  });

  test('a body counts as JSON whatever its content type says', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', ';;;', 'application/json; charset=latin1']) {
      const answer = await harness.call('POST', 'pipelines', { token, body: { name: `typed ${type}` }, headers: { 'content-type': type } });
      expect(answer.status, type).toBe(201);
    }
  });
});
