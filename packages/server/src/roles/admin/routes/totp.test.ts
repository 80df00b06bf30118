import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { readTotpSecret, stepAt, totpCode } from '../auth/totp.ts';
import { type Harness, PASSWORD, startHarness, type TestOrganisation } from '../testing/harness.ts';

onBothEngines('two-step sign-in', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
  });
  afterAll(() => harness?.close());

  const codeOf = (secret: string, around = 0) => totpCode(readTotpSecret(secret) ?? Buffer.alloc(0), stepAt(harness.clock.now()) + around);
  const login = (email: string, more: object = {}) => harness.call('POST', 'auth/login', { body: { email, password: PASSWORD, ...more } });
  const nextStep = () => harness.clock.advance(61_000);

  async function enrol(role: 'viewer' | 'admin' = 'viewer') {
    const user = await org.user(role);
    const proposed = await harness.call('POST', 'users/me/totp', { token: user.token });
    const secret = String(proposed.body.secret);
    const body = { current_password: PASSWORD, secret, code: codeOf(secret) };
    const confirmed = await harness.call('POST', 'users/me/totp/confirm', { token: user.token, body });
    expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200);
    nextStep();
    return { ...user, secret, url: String(proposed.body.otpauth_url), recovery: confirmed.body.recovery_codes as string[] };
  }

  test('an enrolled user needs a code; without one the answer says so', async () => {
    const user = await enrol();
    expect(user.url).toContain(`secret=${user.secret}`);
    const bare = await login(user.email);
    expect([bare.status, bare.body.error.code]).toEqual([401, 'TOTP_REQUIRED']);
    expect((await login(user.email, { totp_code: codeOf(user.secret) })).status).toBe(200);
    const session = await harness.call('POST', 'auth/session', { body: { email: user.email, password: PASSWORD } });
    expect([session.status, session.body.error.code]).toEqual([401, 'TOTP_REQUIRED']);
  });

  test('a wrong password with a right code reveals nothing about the second step', async () => {
    const user = await enrol();
    const answer = await login(user.email, { password: 'wrong', totp_code: codeOf(user.secret) });
    expect(answer.body.error).toEqual((await login('nobody@example.com', { password: 'wrong' })).body.error);
  });

  test('a code works once, also for two at the same time', async () => {
    const user = await enrol();
    const totp_code = codeOf(user.secret);
    const both = await Promise.all([login(user.email, { totp_code }), login(user.email, { totp_code })]);
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 401]);
    expect((await login(user.email, { totp_code: codeOf(user.secret, -1) })).status, 'nor does an older one').toBe(401);
    nextStep();
    expect((await login(user.email, { totp_code: codeOf(user.secret) })).status).toBe(200);
  });

  test('the code that confirmed the enrolment does not sign in', async () => {
    const user = await org.user('viewer');
    const secret = String((await harness.call('POST', 'users/me/totp', { token: user.token })).body.secret);
    const code = codeOf(secret);
    await harness.call('POST', 'users/me/totp/confirm', { token: user.token, body: { current_password: PASSWORD, secret, code } });
    expect((await login(user.email, { totp_code: code })).status).toBe(401);
  });

  test('wrong codes count as failed sign-ins: five lock the account', async () => {
    const user = await enrol();
    for (let n = 0; n < 5; n++) expect((await login(user.email, { totp_code: '000000' })).body.error.code).toBe('INVALID_CREDENTIALS');
    expect((await login(user.email, { totp_code: codeOf(user.secret) })).body.error.code).toBe('ACCOUNT_LOCKED');
  });

  test('each recovery code works once', async () => {
    const user = await enrol();
    const [recovery_code = ''] = user.recovery;
    expect(user.recovery).toHaveLength(10);
    expect((await login(user.email, { recovery_code: recovery_code.toUpperCase() })).status).toBe(200);
    expect((await login(user.email, { recovery_code })).status).toBe(401);
    const state = await harness.call('GET', 'users/me/totp', { token: user.token });
    expect(state.body).toEqual({ enabled: true, recovery_codes_left: 9 });
  });

  test.each([
    [{ current_password: 'wrong' }, 401],
    [{ code: '000000' }, 422],
    [{ secret: 'short' }, 422],
  ])('enrolment with %j is refused with %i and changes nothing', async (wrong, expected) => {
    const user = await org.user('viewer');
    const secret = String((await harness.call('POST', 'users/me/totp', { token: user.token })).body.secret);
    const body = { current_password: PASSWORD, secret, code: codeOf(secret), ...wrong };
    expect((await harness.call('POST', 'users/me/totp/confirm', { token: user.token, body })).status).toBe(expected);
    expect((await login(user.email)).status).toBe(200);
  });

  test('it is turned off with the password, or by an admin; only an owner does so for an owner', async () => {
    const user = await enrol();
    const off = (current_password: string) =>
      harness.call('POST', 'users/me/totp/disable', { token: user.token, body: { current_password } });
    expect((await off('wrong')).status).toBe(401);
    expect((await off(PASSWORD)).status).toBe(204);
    expect((await login(user.email)).status).toBe(200);

    const lost = await enrol();
    const admin = await org.user('admin');
    expect((await harness.call('DELETE', `users/${lost.id}/totp`, { token: admin.token })).status).toBe(204);
    expect((await login(lost.email)).status).toBe(200);
    expect((await harness.call('DELETE', `users/${org.owner.id}/totp`, { token: admin.token })).status).toBe(403);
  });

  test('the secret is stored sealed and never shown', async () => {
    const user = await enrol();
    const row = await harness.store.db.selectFrom('users').selectAll().where('id', '=', user.id).executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(user.secret);
    const shown = await harness.call('GET', `users/${user.id}`, { token: user.token });
    expect(JSON.stringify(shown.body)).not.toContain('totp');
  });
});
