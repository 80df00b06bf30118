import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startNats } from '../../../test/servers/index.ts';
import { until } from '../event-log/conformance/kit.ts';
import { JetStreamApi } from '../event-log/jetstream/api.ts';
import { connectNats } from '../event-log/jetstream.ts';
import { openLmdbLog } from '../event-log/lmdb.ts';
import { openKvVisitors } from './jetstream-kv.ts';
import { openLmdbVisitors } from './lmdb.ts';
import type { VisitorState, VisitorStore } from './port.ts';

interface UnderTest {
  store: VisitorStore;
  /** Damages what is stored of the only visitor. */
  damage(): Promise<void>;
  reopen(): Promise<void>;
  end(): Promise<void>;
}

async function embedded(): Promise<UnderTest> {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-visitors-'));
  let log = await openLmdbLog({ path, dedupWindowMs: 1_000 });
  const under: UnderTest = {
    store: openLmdbVisitors(log),
    async reopen() {
      await log.close();
      log = await openLmdbLog({ path, dedupWindowMs: 1_000 });
      under.store = openLmdbVisitors(log);
    },
    async damage() {
      const visitors = log.environment.store('visitors');
      const [only] = [...visitors.getRange({ start: Buffer.alloc(0) })];
      await log.write(() => () => visitors.put(only!.key, Buffer.from('{"user')));
    },
    async end() {
      await log.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
  return under;
}
async function atScale(): Promise<UnderTest> {
  const server = await startNats();
  const connection = await connectNats(server.url);
  const under: UnderTest = {
    store: await openKvVisitors({ connection, replicas: 1 }),
    async reopen() {
      await under.store.close();
      await server.restart();
      await until(() =>
        connection.flush().then(
          () => true,
          () => false,
        ),
      );
      under.store = await openKvVisitors({ connection, replicas: 1 });
    },
    async damage() {
      const api = new JetStreamApi(connection, 2_000);
      const filter = { subjects_filter: '$KV.firsthand-visitors.v.>' };
      const [subject = ''] = Object.keys((await api.streamInfo('KV_firsthand-visitors', filter)).state.subjects ?? {});
      await connection.request(subject, '{"user');
    },
    async end() {
      await under.store.close();
      await connection.close();
      await server.stop();
    },
  };
  return under;
}

const DAY = 86_400_000;
const session = { id: 's1', started_at: 1, last_at: 2 };
const wild = ['anon', '', ' *>.', 'é\u0000', 'x'.repeat(3_000), '..'];

describe('visitors: LMDB', () => suite(embedded));
describe('visitors: JetStream KV', { tags: ['nats-server'] }, () => suite(atScale));

function suite(make: () => Promise<UnderTest>): void {
  test('are kept for any id, across restarts, separately per organisation', async () => {
    const under = await make();
    const state = (id: string): VisitorState => ({ user_id: `u/${id}`, traits: { a: [1, { b: id }] }, session });
    await under.store.save(
      'org_1',
      wild.map((id) => [id, state(id)]),
    );
    await under.reopen();
    expect(await under.store.load('org_1', [...wild, 'unknown'])).toEqual([...wild.map(state), undefined]);
    expect(await under.store.load('org_2', ['anon'])).toEqual([undefined]);
    await under.store.save('org_1', [['anon', { session }]]);
    expect(await under.store.load('org_1', ['anon'])).toEqual([{ session }]);
    await under.end();
  });

  test('are saved also with traits that are larger than a message of the broker', async () => {
    const under = await make();
    const state: VisitorState = { user_id: 'u', session, traits: { text: 'x'.repeat(1_100_000) } };
    await under.store.save('org_1', [['anon', state]]);
    expect(await under.store.load('org_1', ['anon'])).toMatchObject([{ user_id: 'u', session }]);
    await under.end();
  });

  test('are removed after two days without a link, and after 400 days with one', async () => {
    const under = await make();
    const { store } = under;
    const now = Date.now();
    const seen = (days: number) => ({ id: 's', started_at: 1, last_at: now - days * DAY });
    await store.save('org_1', [
      ['gone', { session: seen(3) }],
      ['here', { session: seen(1) }],
      ['linked', { user_id: 'u', session: seen(399) }],
      ['left', { user_id: 'u', session: seen(401) }],
    ]);
    // The broker tells the age of a message by its own clock, and asks the state only of old ones.
    const later = now + 2.5 * DAY;
    expect(await store.sweep(now)).toBe(make === embedded ? 2 : 0);
    expect(await store.sweep(later)).toBe(make === embedded ? 2 : 4);
    expect(await store.load('org_1', ['gone', 'here', 'linked', 'left'])).toEqual([undefined, undefined, undefined, undefined]);

    await store.save('org_1', [
      ['linked', { user_id: 'u', session: seen(300) }],
      ['other', { user_id: 'u', session: seen(399) }],
    ]);
    expect(await store.sweep(later)).toBe(1);
    // A visitor who is saved while a sweep is under way stays, and the way from the user to them.
    const sweeping = store.sweep(later);
    await store.save('org_1', [['other', { user_id: 'u', session: seen(0) }]]);
    expect(await sweeping).toBe(0);
    expect((await store.erase('org_1', { user_id: 'u' })).anonymous_ids.sort()).toEqual(['linked', 'other']);
    await under.end();
  });

  test('are forgotten by anonymous id or by user, with all that led to them', async () => {
    const under = await make();
    const { store } = under;
    await store.save('org_1', [
      ['a', { user_id: 'u', session }],
      ['b', { user_id: 'u' }],
      ['c', { user_id: 'other', session }],
      ['d', { session }],
      ['e', { user_id: 'u' }],
    ]);
    await store.save('org_1', [['e', { user_id: 'moved on' }]]);
    await store.save('org_2', [['a', { user_id: 'u' }]]);
    expect(await store.erase('org_1', { anonymous_id: 'd' })).toEqual({ links: 0, sessions: 1, anonymous_ids: ['d'] });
    const erased = await store.erase('org_1', { user_id: 'u' });
    expect({ ...erased, anonymous_ids: erased.anonymous_ids.sort() }).toEqual({ links: 2, sessions: 1, anonymous_ids: ['a', 'b'] });
    expect(await store.erase('org_1', { user_id: 'u' })).toEqual({ links: 0, sessions: 0, anonymous_ids: [] });
    expect(await store.erase('org_1', { anonymous_id: 'nobody' })).toEqual({ links: 0, sessions: 0, anonymous_ids: [] });
    const left = await store.load('org_1', ['a', 'b', 'c', 'd', 'e']);
    expect(left.map((one) => one?.user_id)).toEqual([undefined, undefined, 'other', undefined, 'moved on']);
    expect((await store.load('org_2', ['a']))[0]?.user_id).toBe('u');
    // Known again after an erasure, and found again.
    await store.save('org_1', [['a', { user_id: 'u' }]]);
    expect((await store.erase('org_1', { user_id: 'u' })).anonymous_ids).toEqual(['a']);
    await under.end();
  });

  // Each read of it failed, and the organisation's events in that partition waited for it for ever.
  test('what is written beside the events of a visitor overwrites nothing newer (a handover lost an identity)', async () => {
    const under = await make();
    const { store } = under;
    const at = (events: number) => ({ ...session, events });
    const [early, late, next] = [{ session: at(1) }, { session: at(2) }, { user_id: 'u', session: at(3) }];
    const stored = async () => (await store.load('org_1', ['a', 'b', 'c', 'd']))!;
    await store.save('org_1', [
      ['a', early],
      ['b', early],
    ]);
    expect(
      await store.replace('org_1', [
        ['a', early, late],
        ['b', late, next],
        ['c', {}, early],
        ['d', early, late],
      ]),
    ).toEqual([true, false, true, false]);
    expect(await stored()).toEqual([late, early, early, undefined]);
    // While an event's state is being saved, in either order of the calls.
    await Promise.all([store.save('org_1', [['a', next]]), store.replace('org_1', [['a', late, early]])]);
    await Promise.all([store.replace('org_1', [['b', early, late]]), store.save('org_1', [['b', next]])]);
    await Promise.all([store.replace('org_1', [['c', early, late]]), store.erase('org_1', { anonymous_id: 'c' })]);
    expect(await stored()).toEqual([next, next, undefined, undefined]);
    await under.end();
  });

  test('a damaged visitor is unknown, saved anew, and swept', async () => {
    const under = await make();
    await under.store.save('org_1', [['a', { user_id: 'u', session }]]);
    await under.damage();
    expect(await under.store.load('org_1', ['a'])).toEqual([undefined]);
    await under.store.save('org_1', [['a', { user_id: 'u2', session }]]);
    expect(await under.store.load('org_1', ['a'])).toEqual([{ user_id: 'u2', session }]);
    await under.damage();
    expect(await under.store.sweep(Date.now() + 3 * DAY)).toBe(1);
    expect(await under.store.load('org_1', ['a'])).toEqual([undefined]);
    await under.end();
  });
}

test('a bucket of an earlier version gets the expiry setting', { tags: ['nats-server'] }, async () => {
  const server = await startNats();
  const connection = await connectNats(server.url);
  const ask = async (operation: string, body: object) =>
    JSON.parse((await connection.request(`$JS.API.STREAM.${operation}.KV_firsthand-visitors`, JSON.stringify(body))).string());
  await (await openKvVisitors({ connection, replicas: 1 })).close();
  const { config } = await ask('INFO', {});
  await ask('UPDATE', { ...config, max_age: 0 });
  expect((await ask('INFO', {})).config.max_age).toBe(0);
  await (await openKvVisitors({ connection, replicas: 1 })).close();
  expect((await ask('INFO', {})).config).toEqual(config);
  await connection.close();
  await server.stop();
});
