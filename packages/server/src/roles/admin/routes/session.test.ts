import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { type Answer, type Harness, PASSWORD, startHarness, type TestOrganisation } from '../testing/harness.ts';

onBothEngines('console sessions', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  let user: { id: string; email: string; token: string };
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh(), settings: { loginRateLimit: 1_000 } });
    org = await harness.newOrganisation();
    user = await org.user('viewer');
  });
  afterAll(() => harness?.close());

  const cookieOf = (answer: Answer) => String(answer.headers['set-cookie']).split(';')[0] ?? '';
  const signIn = (headers: Record<string, string> = {}) =>
    harness.call('POST', 'auth/session', { body: { email: user.email, password: PASSWORD }, headers });
  const refresh = (cookie: string, headers: Record<string, string> = {}) =>
    harness.call('POST', 'auth/session/refresh', { headers: { cookie, ...headers } });
  const signOut = (cookie: string, query = '') => harness.call('DELETE', `auth/session${query}`, { headers: { cookie } });
  const me = async (token: string) => (await harness.call('GET', 'users/me', { token })).status;

  test('the refresh token is in a cookie that scripts cannot read, and nowhere in the body', async () => {
    const answer = await signIn();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['access_token', 'expires_in', 'token_type']);
    expect(await me(answer.body.access_token)).toBe(200);
    expect(answer.headers['set-cookie']).toMatch(
      /^firsthand_session=rc_[A-Za-z0-9_-]{43}; Path=\/v1\/admin\/auth\/session; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
  });

  test('the cookie is Secure on https', async () => {
    const secure = await startHarness({ settings: { baseUrl: 'https://app.example' } });
    const { owner } = await secure.newOrganisation();
    const answer = await secure.call('POST', 'auth/session', { body: { email: owner.email, password: PASSWORD } });
    expect(answer.headers['set-cookie']).toMatch(/; Secure$/);
    await secure.close();
  });

  test('many tabs can refresh at once, and the session continues', async () => {
    const cookie = cookieOf(await signIn());
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(cookie)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
    for (const answer of answers) expect(await me(answer.body.access_token)).toBe(200);
    // Whichever cookie the browser kept, it goes on.
    for (const answer of answers) expect((await refresh(cookieOf(answer))).status).toBe(200);
  });

  test('a cookie that was replaced longer ago is reuse: every token of the user ends', async () => {
    const cookie = cookieOf(await signIn());
    const next = await refresh(cookie);
    harness.clock.advance(11_000);
    const stolen = await refresh(cookie);
    expect([stolen.status, stolen.body.error.code]).toEqual([401, 'INVALID_REFRESH_TOKEN']);
    expect((await refresh(cookieOf(next))).status).toBe(401);
    expect(await me(next.body.access_token)).toBe(401);
  });

  test('a cookie is worthless at /auth/refresh, and a refresh token as a cookie', async () => {
    const token = cookieOf(await signIn()).split('=')[1];
    expect((await harness.call('POST', 'auth/refresh', { body: { refresh_token: token } })).status).toBe(401);
    const { refresh_token } = await harness.login(user.email);
    expect((await refresh(`firsthand_session=${refresh_token}`)).status).toBe(401);
    expect((await harness.call('POST', 'auth/refresh', { body: { refresh_token } })).status, 'neither was used up').toBe(200);
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a neighbouring subdomain', { 'sec-fetch-site': 'same-site' }, 403],
    ['an older browser, from elsewhere', { origin: 'https://evil.example', host: 'app.example' }, 403],
    ['an opaque origin', { origin: 'null', host: 'app.example' }, 403],
    ['the console', { 'sec-fetch-site': 'same-origin' }, 200],
    ['an older browser, from the console', { origin: 'https://app.example', host: 'app.example' }, 200],
  ])('a request from %s gets its due', async (_name, headers, expected) => {
    expect((await signIn(headers)).status).toBe(expected);
    const cookie = cookieOf(await signIn());
    expect((await refresh(cookie, headers)).status).toBe(expected);
    const left = await harness.call('DELETE', 'auth/session', { headers: { cookie, ...headers } });
    expect(left.status).toBe(expected === 200 ? 204 : 403);
  });

  test.each([
    '',
    'firsthand_session=',
    'firsthand_session=nonsense',
    'other=rc_x',
    `firsthand_session=${'x'.repeat(5000)}`,
  ])('a cookie that is none (%#) has no session, and signs out without a fault', async (cookie) => {
    const answer = await refresh(cookie);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'INVALID_REFRESH_TOKEN']);
    expect((await signOut(cookie)).status).toBe(204);
  });

  test('signing out ends this session at once and removes the cookie', async () => {
    const here = await signIn();
    const elsewhere = await signIn();
    const left = await signOut(cookieOf(here));
    expect([left.status, left.headers['set-cookie']]).toEqual([204, expect.stringMatching(/^firsthand_session=; .*Max-Age=0/)]);
    expect(await me(here.body.access_token)).toBe(401);
    expect((await refresh(cookieOf(here))).status).toBe(401);
    expect(await me(elsewhere.body.access_token), 'other sessions go on').toBe(200);
    const { body } = await harness.call('GET', 'audit-logs?action=auth.logout', {
      token: (await harness.login(org.owner.email)).access_token,
    });
    expect(body.audit_logs[0]).toMatchObject({ action: 'auth.logout', resource_id: user.id });
  });

  test('signing out everywhere ends every session of the user', async () => {
    const sessions = [await signIn(), await signIn()];
    const api = await harness.login(user.email);
    expect((await signOut(cookieOf(sessions[0] as Answer), '?everywhere=true')).status).toBe(204);
    for (const token of [...sessions.map(({ body }) => body.access_token), api.access_token]) expect(await me(token)).toBe(401);
    expect((await harness.call('POST', 'auth/refresh', { body: { refresh_token: api.refresh_token } })).status).toBe(401);
  });
});
