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

  test('strangers cannot lock an owner out of places where the owner signed in before', async () => {
    const { email } = await org.user('admin');
    const home = '198.18.5.20';
    expect((await login(home, email)).status).toBe(200);
    nextMinute();
    const codes = [];
    for (let n = 0; n < 12; n++) codes.push((await login(`192.0.2.${n}`, email, 'wrong')).body.error.code);
    expect(codes).toEqual([...Array(5).fill('INVALID_CREDENTIALS'), ...Array(5).fill('ACCOUNT_LOCKED'), ...Array(2).fill('RATE_LIMITED')]);
    expect((await login(home, email)).status, 'while strangers are locked and limited').toBe(200);
    expect((await login('192.0.2.77', email)).body.error.code, 'the right password of a stranger').toBe('RATE_LIMITED');
    nextMinute();
    expect((await login('192.0.2.77', email)).body.error.code).toBe('ACCOUNT_LOCKED');
    for (let n = 0; n < 5; n++) expect((await login(home, email, 'wrong')).body.error.code).toBe('INVALID_CREDENTIALS');
    expect((await login(home, email)).body.error.code, 'the lock holds at a known place too').toBe('ACCOUNT_LOCKED');
  });

  test('an organisation that adds many users at once keeps nobody from signing in', async () => {
    const office = '203.0.113.7';
    nextMinute();
    expect((await login(office, org.owner.email)).status).toBe(200);
    const neighbour = await harness.newOrganisation();
    const add = (email: string) =>
      harness.call('POST', 'users', { token: neighbour.owner.token, body: { email, password: 'correct horse battery staple' } });
    const added = Promise.all(Array.from({ length: 40 }, (_, n) => add(`many${n}.${neighbour.org_id}@example.com`)));
    const taken = Promise.all(Array.from({ length: 40 }, () => add(org.owner.email)));
    expect((await login(office, org.owner.email)).status).toBe(200);
    expect(new Set((await added).map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set((await taken).map(({ status }) => status)), 'no hash for an address that is taken').toEqual(new Set([409]));
  });

  test('a first sign-in does not start a new minute', async () => {
    const { email } = await org.user('viewer');
    nextMinute();
    const from = '198.18.6.20';
    const statuses = [];
    for (let n = 0; n < 11; n++) statuses.push((await login(from, email)).status);
    expect(statuses).toEqual([...Array(10).fill(200), 429]);
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
    const limited = async (ip: string) => (await login(ip, 'locked@example.com', 'wrong')).status;
    for (let n = 0; n < most; n++) await limited(from());
    const refused = await guess(from());
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await guess(elsewhere)).status).toBe(401);
    nextMinute();
    expect((await guess(from())).status).toBe(401);
  });

  test('an account that never signed in from there is answered like one that does not exist, during a flood and after it', async () => {
    const user = await org.user('viewer');
    const both = (ip: string) => Promise.all([user.email, 'nobody@example.com'].map((email) => login(ip, email, 'wrong')));
    nextMinute();
    const attack = flood(() => '203.0.113.99');
    const during = await both('198.18.7.20');
    expect(during.map(({ status }) => status)).toEqual([401, 401]);
    expect(during[0]!.body.error).toEqual(during[1]!.body.error);
    await attack;
    // The flood used up the client's minute.
    expect((await both('203.0.113.99')).map(({ status }) => status)).toEqual([429, 429]);
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
