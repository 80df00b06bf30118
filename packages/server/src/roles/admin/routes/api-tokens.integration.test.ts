import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { refusalCodes } from '../../../http/openapi.ts';
import type { UserRole } from '../../../stores/config/schema.ts';
import { liveApiTokens } from '../auth/api-tokens.ts';
import { ROLE_ORDER, type RouteEntry, roleReaches } from '../deps.ts';
import { apiOf, bodyFor, exampleOf, FIXTURES, makePath, parametersOf } from '../testing/fixtures.ts';
import { type Harness, startHarness, type TestOrganisation } from '../testing/harness.ts';

onBothEngines('API tokens', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let routes: RouteEntry[];
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
    other = await harness.newOrganisation();
    routes = harness.app.routeTable.filter((route) => route.config.undocumented !== true && route.role !== 'public');
  });
  afterAll(() => harness?.close());

  async function newToken(body: object = {}, by = org.owner.token) {
    const answer = await harness.call('POST', 'api-tokens', { token: by, body: { name: 'CI', role: 'viewer', ...body } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as unknown as { id: string; token: string; token_prefix: string; expires_at: string | null };
  }
  const newPipeline = async (token = org.owner.token) =>
    (await harness.call('POST', 'pipelines', { token, body: { name: 'Shop' } })).body.id;
  const status = async (token: string, path = 'pipelines', method = 'GET') => (await harness.call(method, path, { token })).status;
  const named = (route: RouteEntry) => `${route.method} ${route.url}`;

  test('a token is shown once, works as a bearer token and is stored only as a hash', async () => {
    const made = await newToken();
    expect(made.token).toMatch(/^fht_[A-Za-z0-9_-]{43}$/);
    expect(made.token.startsWith(made.token_prefix)).toBe(true);
    expect(await status(made.token)).toBe(200);
    const listed = await harness.call('GET', 'api-tokens', { token: org.owner.token });
    expect(JSON.stringify(listed.body)).toContain(made.id);
    expect(JSON.stringify(listed.body)).not.toContain(made.token);
    const stored = await harness.store.db.selectFrom('api_tokens').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(made.token.slice(8));
  });

  test('the answer can be sent back: it makes another token', async () => {
    const made = await newToken();
    expect((await newToken(made)).token).not.toBe(made.token);
  });

  test('a revoked, unknown, altered or expired token is refused', async () => {
    const made = await newToken();
    expect((await harness.call('DELETE', `api-tokens/${made.id}`, { token: org.owner.token })).status).toBe(204);
    expect(await status(made.token), 'at once: every request asks the database').toBe(401);
    expect(await status(`fht_${'a'.repeat(43)}`)).toBe(401);
    const soon = new Date(harness.clock.now() + 60_000).toISOString();
    const brief = await newToken({ expires_at: soon });
    expect(await status(brief.token)).toBe(200);
    expect(await status(`${brief.token}x`)).toBe(401);
    harness.clock.advance(61_000);
    const late = await harness.call('GET', 'pipelines', { token: brief.token });
    expect([late.status, late.body.error.code]).toEqual([401, 'EXPIRED_TOKEN']);
  });

  test.each([
    [{ role: 'king' }, 422],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 422],
    [{ expires_at: 'tomorrow' }, 422],
    [{ pipeline_ids: [] }, 422],
    [{ pipeline_ids: ['pl_nobody'] }, 404],
    [{ name: '' }, 422],
    [{ scopes: ['all'] }, 422],
  ])('%j is refused with %i', async (body, expected) => {
    const answer = await harness.call('POST', 'api-tokens', { token: org.owner.token, body: { name: 'CI', role: 'viewer', ...body } });
    expect(answer.status).toBe(expected);
  });

  test('an organisation has at most 100 tokens: each has a request rate of its own', async () => {
    const { owner, org_id } = await harness.newOrganisation();
    const { id } = await newToken({}, owner.token);
    const row = await harness.store.db.selectFrom('api_tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const copies = Array.from({ length: 99 }, (_, n) => ({ ...row, id: `apt_copy${n}_${org_id}`, token_hash: `copy ${n} of ${id}` }));
    await harness.store.db.insertInto('api_tokens').values(copies).execute();
    const body = { name: 'CI', role: 'viewer' };
    const refused = await harness.call('POST', 'api-tokens', { token: owner.token, body });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
    await harness.call('DELETE', `api-tokens/${id}`, { token: owner.token });
    expect((await harness.call('POST', 'api-tokens', { token: owner.token, body })).status).toBe(201);
  });

  test("a token never has more than its maker's role", async () => {
    const admin = await org.user('admin');
    const refused = await harness.call('POST', 'api-tokens', { token: admin.token, body: { name: 'CI', role: 'owner' } });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
  });

  test.each(['remove', 'disable', 'demote'] as const)('%s the maker: the token goes along', async (change) => {
    const maker = await org.user('admin');
    const high = await newToken({ role: 'admin' }, maker.token);
    const low = await newToken({ role: 'viewer' }, maker.token);
    const body = change === 'disable' ? { status: 'disabled' } : { role: 'viewer' };
    if (change === 'remove') await harness.call('DELETE', `users/${maker.id}`, { token: org.owner.token });
    else await harness.call('PUT', `users/${maker.id}`, { token: org.owner.token, body });
    expect(await status(high.token)).toBe(401);
    expect(await status(low.token)).toBe(change === 'demote' ? 200 : 401);
    if (change !== 'demote') return;
    await harness.call('PUT', `users/${maker.id}`, { token: org.owner.token, body: { role: 'admin' } });
    expect(await status(high.token), 'a promotion does not bring it back').toBe(401);
  });

  test('a stolen token cannot make itself a successor', async () => {
    const { token } = await newToken({ role: 'owner' });
    const victim = await org.user('admin');
    const body = { email: 'successor@example.com', role: 'owner', password: 'correct horse battery staple' };
    for (const [method, path, sent] of [
      ['POST', 'users', body],
      ['PUT', `users/${victim.id}`, { email: body.email }],
      ['PUT', `users/${victim.id}`, { role: 'owner' }],
      ['DELETE', `users/${org.owner.id}`, undefined],
      ['POST', 'api-tokens', { name: 'Successor', role: 'owner' }],
      ['DELETE', `users/${victim.id}/totp`, undefined],
    ] as const) {
      const answer = await harness.call(method, path, { token, ...(sent && { body: sent }) });
      expect([method, path, answer.status, answer.body.error?.code]).toEqual([method, path, 403, 'FORBIDDEN']);
    }
    expect((await harness.call('GET', 'users', { token })).status, 'reading stays open').toBe(200);
    expect((await harness.call('POST', 'auth/login', { body: { email: body.email, password: body.password } })).status).toBe(401);
  });

  test('the last use is recorded without a write per request', async () => {
    const made = await newToken();
    const lastUsed = async () =>
      (await harness.store.db.selectFrom('api_tokens').select('last_used_at').where('id', '=', made.id).executeTakeFirstOrThrow())
        .last_used_at;
    await status(made.token);
    await expect.poll(lastUsed).not.toBeNull();
    const first = await lastUsed();
    for (let n = 0; n < 5; n++) await status(made.token);
    expect(await lastUsed()).toBe(first);
    harness.clock.advance(61_000);
    await status(made.token);
    await expect.poll(lastUsed).not.toBe(first);
  });

  test('creation and revocation are audited; writes name the token', async () => {
    const made = await newToken({ role: 'editor' });
    const pipeline = await newPipeline(made.token);
    await harness.call('DELETE', `api-tokens/${made.id}`, { token: org.owner.token });
    const { body } = await harness.call('GET', 'audit-logs?limit=3', { token: org.owner.token });
    expect(body.audit_logs.map(({ action, resource_id }) => [action, resource_id])).toEqual([
      ['api_token.deleted', made.id],
      ['pipeline.created', pipeline],
      ['api_token.created', made.id],
    ]);
    expect(body.audit_logs[1]).toMatchObject({ user_id: org.owner.id, user_agent: expect.stringContaining(made.id) });
    expect(JSON.stringify(body)).not.toContain(made.token);
  });

  test('each role of a token opens exactly the routes of that role, except those for people', async () => {
    const tokens = {} as Record<UserRole, string>;
    for (const role of ROLE_ORDER) tokens[role] = (await newToken({ role })).token;
    for (const route of routes) {
      const path = route.url.replace(/:[a-z_]+/g, 'nonsense');
      for (const role of ROLE_ORDER) {
        const answer = await harness.call(route.method, path, { token: tokens[role], body: exampleOf(route) });
        const allowed = roleReaches(role, route.role as UserRole) && route.config.peopleOnly !== true;
        if (allowed) expect(answer.status, `${named(route)} as ${role}`).not.toBe(403);
        else expect([answer.status, answer.body.error.code], `${named(route)} as ${role}`).toEqual([403, 'FORBIDDEN']);
        if (!allowed) expect(refusalCodes(route), named(route)).toContain('FORBIDDEN');
      }
    }
  });

  test('a token of another organisation knows no foreign id', async () => {
    const { token } = await newToken({ role: 'owner' }, other.owner.token);
    for (const route of routes) {
      const last = parametersOf(route.url).at(-1);
      if (last === undefined || FIXTURES[last.key]?.shared === true || route.config.peopleOnly === true) continue;
      const path = await makePath(apiOf(harness, org), route.url);
      const body = await bodyFor(apiOf(harness, org), route, path);
      const answer = await harness.call(route.method, path, { token, body });
      expect([answer.status, answer.body.error?.code], named(route)).toEqual([404, 'NOT_FOUND']);
    }
  });

  test('a token limited to a pipeline reaches nothing of another pipeline, on any route', async () => {
    const mine = await newPipeline();
    const { token } = await newToken({ role: 'owner', pipeline_ids: [mine] });
    for (const route of routes) {
      // Catalog and previews belong to no pipeline.
      if (/integration-catalog(\/:vendor)?$|mapping\/preview|transformations\/test$/.test(route.url) && route.config.peopleOnly !== true)
        continue;
      const path = await makePath(apiOf(harness, org), route.url);
      const body = await bodyFor(apiOf(harness, org), route, path);
      const answer = await harness.call(route.method, path, { token, body });
      const where = `${named(route)}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
      if (named(route) === 'GET /v1/admin/pipelines') {
        expect([answer.status, answer.body.pipelines.map(({ id }) => id), answer.body.total], where).toEqual([200, [mine], 1]);
        continue;
      }
      if (named(route) === 'GET /v1/admin/integrations') {
        expect([answer.status, answer.body.integrations, answer.body.total], where).toEqual([200, [], 0]);
        continue;
      }
      expect([403, 404], where).toContain(answer.status);
      expect(refusalCodes(route), where).toContain(answer.body.error.code);
      const { properties } = (route.schema.querystring ?? {}) as { properties?: Record<string, unknown> };
      if (route.method !== 'GET' || properties?.pipeline_id === undefined) continue;
      const theirs = await harness.call('GET', `${path}?pipeline_id=${await newPipeline()}`, { token });
      expect(refusalCodes(route), `${route.url}, named: ${theirs.status}`).toContain(theirs.body.error.code);
    }
  });

  test('and it works on its own pipeline', async () => {
    const mine = await newPipeline();
    const foreign = await newPipeline();
    const { token } = await newToken({ role: 'admin', pipeline_ids: [mine] });
    const source = { name: 'Payments', source_type: 'payment_processor', pipeline_id: mine };
    const made = await harness.call('POST', 'webhook-sources', { token, body: source });
    expect(made.status).toBe(201);
    const theirs = await harness.call('POST', 'webhook-sources', { token: org.owner.token, body: { ...source, pipeline_id: foreign } });
    const strange = await newPipeline(other.owner.token);
    const hook = { vendor: 'webhook', name: 'Hook', config: { url: 'https://hooks.example/in' } };
    for (const [method, path, body, expected] of [
      ['GET', `pipelines/${mine}`, undefined, 200],
      ['PUT', `pipelines/${mine}`, { name: 'Renamed' }, 200],
      ['GET', `pipelines/${mine}/integrations`, undefined, 200],
      ['GET', `events?pipeline_id=${mine}`, undefined, 200],
      ['GET', `stats?pipeline_id=${mine}`, undefined, 200],
      ['GET', `dlq?pipeline_id=${mine}`, undefined, 200],
      ['GET', `webhook-sources?pipeline_id=${mine}`, undefined, 200],
      ['GET', `webhook-sources/${made.body.id}`, undefined, 200],
      ['PUT', `webhook-sources/${made.body.id}`, { name: 'Renamed' }, 200],
      ['PUT', `webhook-sources/${made.body.id}`, { pipeline_id: foreign }, 404],
      ['GET', `events?pipeline_id=${foreign}`, undefined, 404],
      ['GET', 'events', undefined, 403],
      ['GET', `pipelines/${foreign}`, undefined, 404],
      ['GET', 'pipelines', undefined, 200],
      ['POST', 'integrations', { source_id: mine, ...hook }, 201],
      ['POST', 'integrations', { source_id: foreign, ...hook }, 404],
      ['POST', 'integrations', { source_id: strange, ...hook }, 404],
      ['GET', `dlq/groups?pipeline_id=${mine}`, undefined, 200],
      ['GET', `dlq/groups?pipeline_id=${foreign}`, undefined, 404],
      ['GET', 'dlq/groups', undefined, 403],
      ['GET', `webhook-sources/${made.body.id}/status`, undefined, 200],
      ['GET', `webhook-sources/${theirs.body.id}/status`, undefined, 404],
      ['POST', 'pipelines', { name: 'Another' }, 403],
      ['GET', 'users', undefined, 403],
    ] as const)
      expect([method, path, (await harness.call(method, path, { token, ...(body && { body }) })).status]).toEqual([method, path, expected]);
    const viewer = await newToken({ role: 'viewer', pipeline_ids: [mine] });
    const refused = await harness.call('POST', 'integrations', { token: viewer.token, body: { source_id: mine, ...hook } });
    expect(refused.status, 'the role decides too').toBe(403);
  });

  test('a token limited to pipelines lists only these, in pages and under every filter', async () => {
    const mine = [await newPipeline(), await newPipeline()];
    const foreign = await newPipeline();
    const { token } = await newToken({ pipeline_ids: [...mine, mine[0]] });
    const listed = async (query: string) => {
      const { pipelines, total } = (await harness.call('GET', `pipelines?${query}`, { token })).body;
      return [pipelines.map(({ id }) => id), total];
    };
    expect(await listed('')).toEqual([mine.toReversed(), 2]);
    expect(await listed('limit=1&offset=1')).toEqual([[mine[0]], 2]);
    expect(await listed('search=shop&type=web&enabled=true')).toEqual([mine.toReversed(), 2]);
    expect((await harness.call('DELETE', `pipelines/${mine[0]}`, { token: org.owner.token })).status).toBe(200);
    expect(await listed('')).toEqual([[mine[1]], 1]);
    expect((await harness.call('DELETE', `pipelines/${mine[1]}`, { token: org.owner.token })).status).toBe(200);
    expect(await listed(''), 'nothing rather than everything').toEqual([[], 0]);
    expect(await status(token, `pipelines/${foreign}`)).toBe(404);
  });

  test('the live view asks once which API tokens are still valid', async () => {
    const { db } = harness.store;
    const admin = await org.user('admin');
    const [kept, revoked, ofAdmin] = [await newToken(), await newToken(), await newToken({ role: 'admin' }, admin.token)];
    const ids = [kept.id, revoked.id, ofAdmin.id];
    expect(await liveApiTokens(db, [...ids, 'apt_unknown'])).toEqual(new Set(ids));
    await harness.call('DELETE', `api-tokens/${revoked.id}`, { token: org.owner.token });
    expect(await liveApiTokens(db, ids)).toEqual(new Set([kept.id, ofAdmin.id]));
    await db.updateTable('users').set({ role: 'editor' }).where('id', '=', admin.id).execute();
    expect(await liveApiTokens(db, ids), 'its maker was demoted').toEqual(new Set([kept.id]));
    await db.updateTable('users').set({ role: 'admin', status: 'disabled' }).where('id', '=', admin.id).execute();
    expect(await liveApiTokens(db, ids), 'its maker was disabled').toEqual(new Set([kept.id]));
    expect(await liveApiTokens(db, [])).toEqual(new Set());
  });
});
