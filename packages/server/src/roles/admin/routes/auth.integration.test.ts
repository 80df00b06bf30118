import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { type Harness, PASSWORD, startHarness, type TestOrganisation } from '../testing/harness.ts';

onBothEngines('accounts', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
  });
  afterAll(() => harness?.close());

  const me = (token: string) => harness.call('GET', 'users/me', { token });
  const login = (email: string, password: string) => harness.call('POST', 'auth/login', { body: { email, password } });
  const refresh = (refresh_token: string) => harness.call('POST', 'auth/refresh', { body: { refresh_token } });

  test('login answers a pair of tokens with exactly the claims of the specification', async () => {
    const answer = await login(org.owner.email.toUpperCase(), PASSWORD);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
    const claims = JSON.parse(Buffer.from(answer.body.access_token.split('.')[1]!, 'base64url').toString());
    expect(claims).toEqual({ sub: org.owner.id, org_id: org.org_id, role: 'owner', iat: expect.any(Number), exp: claims.iat + 900 });
    expect((await me(answer.body.access_token)).body).toMatchObject({ id: org.owner.id, last_login_at: expect.any(String) });
  });

  test.each([
    ['no header', undefined, 'INVALID_TOKEN'],
    ['no scheme', 'abc', 'INVALID_TOKEN'],
    ['basic', 'Basic abc', 'INVALID_TOKEN'],
    ['not a JWT', 'Bearer abc', 'INVALID_TOKEN'],
    ['a pipeline key', 'Bearer pk_abc', 'INVALID_PIPELINE_KEY'],
    [
      'alg none',
      `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"x"}').toString('base64url')}.`,
      'INVALID_TOKEN',
    ],
  ])('%s is 401', async (_name, authorization, code) => {
    const answer = await harness.call('GET', 'users/me', { headers: authorization === undefined ? {} : { authorization } });
    expect([answer.status, answer.body.error.code]).toEqual([401, code]);
    expect(answer.headers['x-request-id']).toBeTruthy();
  });

  test('an altered token is invalid', async () => {
    const [header, , signature] = org.owner.token.split('.');
    const forged = Buffer.from(JSON.stringify({ sub: org.owner.id, org_id: org.org_id, role: 'owner', iat: 1, exp: 9e9 })).toString(
      'base64url',
    );
    expect((await me(`${header}.${forged}.${signature}`)).body.error.code).toBe('INVALID_TOKEN');
  });

  test('a token has one spelling: the spare bits of its last character are checked', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const { token } = org.owner;
    const last = alphabet.indexOf(token.slice(-1));
    const spellings = [0, 1, 2, 3].map((spare) => `${token.slice(0, -1)}${alphabet[(last & ~3) | spare]}`);
    const answers = await Promise.all(
      [...spellings, `${token}=`].map(async (spelling) => [spelling === token, (await me(spelling)).status]),
    );
    expect(answers.filter(([isOriginal]) => isOriginal)).toEqual([[true, 200]]);
    expect(answers.filter(([isOriginal]) => !isOriginal)).toEqual(Array(4).fill([false, 401]));
  });

  test('an expired access token gets its own error code, and its refresh token works once', async () => {
    const user = await org.user('viewer');
    const pair = await harness.login(user.email);
    harness.clock.advance(901_000);
    const late = await me(pair.access_token);
    expect([late.status, late.body.error.code]).toEqual([401, 'EXPIRED_TOKEN']);
    const next = await refresh(pair.refresh_token);
    expect(next.status).toBe(200);
    expect((await me(next.body.access_token)).status).toBe(200);
    const again = await refresh(pair.refresh_token);
    expect([again.status, again.body.error.code]).toEqual([401, 'INVALID_REFRESH_TOKEN']);
    expect((await me(next.body.access_token)).status, 'reuse revokes the access tokens').toBe(401);
    expect((await refresh(next.body.refresh_token)).status, 'and the refresh tokens').toBe(401);
    org.owner.token = (await harness.login(org.owner.email)).access_token;
  });

  test('of 50 parallel refreshes of one token exactly one succeeds, and every session of the user ends', async () => {
    const user = await org.user('viewer');
    const other = await harness.login(user.email);
    const pair = await harness.login(user.email);
    // 50 requests share ten connections, and a busy database may time one out: it retries, as the response says.
    let unanswered = 0;
    const answered = async () => {
      for (;;) {
        const answer = await refresh(pair.refresh_token);
        if (answer.status !== 503) return answer;
        unanswered++;
      }
    };
    const answers = await Promise.all(Array.from({ length: 50 }, answered));
    const winners = answers.filter((answer) => answer.status === 200).map((answer) => answer.body);
    // Only an answer that was lost may have been the winner's.
    if (unanswered === 0) expect(winners).toHaveLength(1);
    else expect(winners.length).toBeLessThanOrEqual(1);
    expect(answers.filter((answer) => answer.body.error?.code === 'INVALID_REFRESH_TOKEN')).toHaveLength(50 - winners.length);
    for (const token of [user.token, other.access_token, ...winners.map(({ access_token }) => access_token)])
      expect((await me(token)).status).toBe(401);
    for (const token of [other.refresh_token, ...winners.map(({ refresh_token }) => refresh_token)])
      expect((await refresh(token)).status).toBe(401);
    expect((await login(user.email, PASSWORD)).status, 'a new login is good').toBe(200);
  });

  test.each(['', 'nonsense', 'x'.repeat(5_000)])('a refresh token that is none (%#) is refused as one', async (token) => {
    const answer = await refresh(token);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'INVALID_REFRESH_TOKEN']);
  });

  test('a refresh token ends after its time', async () => {
    const user = await org.user('viewer');
    const pair = await harness.login(user.email);
    harness.clock.advance(7 * 86_400_000 + 1_000);
    expect((await refresh(pair.refresh_token)).status).toBe(401);
    org.owner.token = (await harness.login(org.owner.email)).access_token;
  });

  test.each(['known', 'unknown'])('five failures lock a %s address for 15 minutes, the right password too', async (kind) => {
    const email = kind === 'known' ? (await org.user('viewer')).email : 'nobody@example.com';
    harness.clock.advance(61_000);
    for (let n = 0; n < 5; n++) expect((await login(email, 'wrong')).body.error.code).toBe('INVALID_CREDENTIALS');
    const locked = await login(email, PASSWORD);
    expect([locked.status, locked.body.error.code]).toEqual([401, 'ACCOUNT_LOCKED']);
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(800);
    harness.clock.advance(15 * 60_000 + 1_000);
    expect((await login(email, PASSWORD)).status).toBe(kind === 'known' ? 200 : 401);
    org.owner.token = (await harness.login(org.owner.email)).access_token;
  });

  test('the rate limit applies before the account lock', async () => {
    const answers = [];
    for (let n = 0; n < 12; n++) answers.push(await login('limited@example.com', 'wrong'));
    expect(answers.map((answer) => answer.body.error.code)).toEqual([
      ...Array(5).fill('INVALID_CREDENTIALS'),
      ...Array(5).fill('ACCOUNT_LOCKED'),
      'RATE_LIMITED',
      'RATE_LIMITED',
    ]);
    expect(answers[11]!.status).toBe(429);
    expect(Number(answers[11]!.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('a success ends the run of failures', async () => {
    const user = await org.user('viewer');
    harness.clock.advance(61_000);
    for (let n = 0; n < 4; n++) await login(user.email, 'wrong');
    expect((await login(user.email, PASSWORD)).status).toBe(200);
    harness.clock.advance(61_000);
    for (let n = 0; n < 4; n++) await login(user.email, 'wrong');
    expect((await login(user.email, PASSWORD)).status).toBe(200);
  });

  test('parallel guesses cannot outrun the lock', async () => {
    const user = await org.user('viewer');
    harness.clock.advance(61_000);
    const guesses = await Promise.all(Array.from({ length: 8 }, () => login(user.email, 'wrong')));
    expect(guesses.every((answer) => answer.status === 401)).toBe(true);
    expect((await login(user.email, PASSWORD)).body.error.code).toBe('ACCOUNT_LOCKED');
  });

  test('removed, disabled and demoted users are out at once', async () => {
    for (const change of ['remove', 'disable', 'demote'] as const) {
      const user = await org.user('admin');
      const pair = await harness.login(user.email);
      const { token } = org.owner;
      if (change === 'remove') expect((await harness.call('DELETE', `users/${user.id}`, { token })).status).toBe(204);
      else
        await harness.call('PUT', `users/${user.id}`, { token, body: change === 'disable' ? { status: 'disabled' } : { role: 'viewer' } });
      expect((await me(user.token)).status, change).toBe(401);
      expect((await refresh(pair.refresh_token)).status, change).toBe(401);
      expect((await login(user.email, PASSWORD)).status, change).toBe(change === 'demote' ? 200 : 401);
    }
  });

  test('the role is the one in the database', async () => {
    const user = await org.user('viewer');
    await harness.call('PUT', `users/${user.id}`, { token: org.owner.token, body: { role: 'editor' } });
    expect((await harness.call('POST', 'pipelines', { token: user.token, body: { name: 'by a promoted user' } })).status).toBe(201);
  });

  test('changing the password keeps this session and ends the others', async () => {
    const user = await org.user('viewer');
    const here = await harness.login(user.email);
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    const wrong = await harness.call('PUT', 'users/me/password', { token: here.access_token, body: { ...body, current_password: 'no' } });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'INVALID_CREDENTIALS']);
    expect((await harness.call('PUT', 'users/me/password', { token: here.access_token, body })).status).toBe(200);
    expect((await me(here.access_token)).status).toBe(200);
    expect((await refresh(here.refresh_token)).status).toBe(200);
    expect((await me(user.token)).status).toBe(401);
    expect((await login(user.email, PASSWORD)).status).toBe(401);
    expect((await login(user.email, 'another long password')).status).toBe(200);
  });

  test('only an owner touches owners, and the last owner stays', async () => {
    const solo = await harness.newOrganisation();
    const admin = await solo.user('admin');
    const code = async (method: string, path: string, token: string, body?: unknown) =>
      (await harness.call(method, path, { token, body })).status;
    expect(await code('PUT', `users/${solo.owner.id}`, admin.token, { name: 'x' })).toBe(403);
    expect(await code('DELETE', `users/${solo.owner.id}`, admin.token)).toBe(403);
    expect(await code('PUT', `users/${admin.id}`, admin.token, { role: 'owner' })).toBe(403);
    expect(await code('POST', 'users', admin.token, { email: 'n@example.com', password: PASSWORD, role: 'owner' })).toBe(403);
    for (const body of [{ role: 'admin' }, { status: 'disabled' }])
      expect(await code('PUT', `users/${solo.owner.id}`, solo.owner.token, body)).toBe(409);
    expect(await code('DELETE', `users/${solo.owner.id}`, solo.owner.token)).toBe(409);
    expect((await me(solo.owner.token)).status, 'a refused change leaves nothing behind').toBe(200);
  });

  test('if two owners remove each other at once, one stays', async () => {
    const pair = await harness.newOrganisation();
    const second = await pair.user('owner');
    const answers = await Promise.all([
      harness.call('DELETE', `users/${second.id}`, { token: pair.owner.token }),
      harness.call('DELETE', `users/${pair.owner.id}`, { token: second.token }),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([204, expect.toBeOneOf([401, 404, 409])]);
  });
});

test('a user’s request rate is limited with Retry-After, and recovers', async () => {
  const harness = await startHarness({ settings: { adminRateLimit: 5 } });
  const org = await harness.newOrganisation();
  const statuses = [];
  for (let n = 0; n < 7; n++) statuses.push((await harness.call('GET', 'users/me', { token: org.owner.token })).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  const refused = await harness.call('GET', 'users/me', { token: org.owner.token });
  expect(refused.body.error.code).toBe('RATE_LIMITED');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
  harness.clock.advance(61_000);
  expect((await harness.call('GET', 'users/me', { token: org.owner.token })).status).toBe(200);
  await harness.close();
});

test('passwords are kept as argon2id hashes of the promised cost', async () => {
  const harness = await startHarness();
  await harness.newOrganisation();
  const { password_hash } = await harness.store.db.selectFrom('users').select('password_hash').executeTakeFirstOrThrow();
  expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  await harness.close();
});
