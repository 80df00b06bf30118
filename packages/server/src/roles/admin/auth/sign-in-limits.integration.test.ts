import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { type Harness, PASSWORD, startHarness, type TestOrganisation } from '../testing/harness.ts';

onBothEngines('sign-in limits', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  let strangers = 0;
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh(), settings: { trustProxy: 1 } });
    org = await harness.newOrganisation();
  });
  afterAll(() => harness?.close());

  const login = (ip: string, email: string, password = PASSWORD) =>
    harness.call('POST', 'auth/login', { body: { email, password }, headers: { 'x-forwarded-for': ip } });
  const guess = (ip: string) => login(ip, `stranger${++strangers}@example.com`, 'wrong');
  const flood = (ip: () => string) => Promise.all(Array.from({ length: 100 }, () => guess(ip())));
  const nextMinute = () => harness.clock.advance(61_000);

  test('a hundred parallel logins with random addresses do not keep owners out', async () => {
    const office = '203.0.113.7';
    expect((await login(office, org.owner.email)).status).toBe(200);
    nextMinute();
    // From the same network as the owner, and from as many networks as there are guesses.
    for (const from of [() => '203.0.113.99', () => `198.51.${++strangers % 250}.1`]) {
      const attack = flood(from);
      expect((await login(office, org.owner.email)).status).toBe(200);
      const statuses = new Set((await attack).map((answer) => answer.status));
      expect([...statuses].sort()).toEqual(expect.arrayContaining([401]));
      expect([...statuses].every((status) => status === 401 || status === 429)).toBe(true);
      expect((await login(office, org.owner.email)).status, 'right after the flood').toBe(200);
      nextMinute();
    }
  });

  test('a first sign-in from another network gets through a flood from one network', async () => {
    const user = await org.user('viewer');
    nextMinute();
    const attack = flood(() => '203.0.113.99');
    expect((await login('2001:db8:1:2::1', user.email)).status).toBe(200);
    await attack;
  });

  test.each([
    ['client address', 100, () => '192.0.2.1', '192.0.2.2'],
    ['network', 300, () => `192.0.2.${++strangers % 250}`, '192.0.3.1'],
  ])('attempts are limited by %s', async (_name, most, from, elsewhere) => {
    nextMinute();
    // Counted before any hash is computed, so a locked address is enough to count cheaply.
    for (let n = 0; n < 5; n++) await login('198.51.100.1', 'locked@example.com', 'wrong');
    const limited = async (ip: string) => (await login(ip, 'locked@example.com', 'wrong')).body.error.code;
    for (let n = 0; n < most; n++) await limited(from());
    const refused = await guess(from());
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await guess(elsewhere)).status).toBe(401);
    nextMinute();
    expect((await guess(from())).status).toBe(401);
  });

  test('known and unknown e-mail addresses get the same response during a flood', async () => {
    const user = await org.user('viewer');
    nextMinute();
    const attack = flood(() => '203.0.113.99');
    const answers = await Promise.all([login('203.0.113.98', user.email, 'wrong'), login('203.0.113.98', 'nobody@example.com', 'wrong')]);
    expect(new Set(answers.map((answer) => answer.status)).size).toBe(1);
    await attack;
    // The flood used up the client's minute: the account that never signed in from there is refused like the one that does not exist.
    for (const email of [user.email, 'nobody@example.com']) expect((await login('203.0.113.99', email)).status).toBe(429);
  });

  test('refused strangers leave no row per e-mail address', async () => {
    nextMinute();
    for (let n = 0; n < 2; n++) await flood(() => '192.0.2.200');
    const count = async () => (await harness.store.db.selectFrom('login_attempts').selectAll().execute()).length;
    const before = await count();
    await flood(() => '192.0.2.200');
    expect(await count()).toBe(before);
  });
});
