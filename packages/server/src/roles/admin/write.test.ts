import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../../../test/servers/index.ts';
import { turns } from '../../runtime/turns.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { readConfigVersion } from '../../stores/config/version.ts';
import { type Harness, SECRET_KEY, startHarness } from './testing/harness.ts';
import { createWrite } from './write.ts';

/** A write of nothing but its audit entry. `onAttempt` is called with the number of each attempt to store one; time stands still. */
async function startWrites(harness: Harness, onAttempt: (attempt: number) => unknown = () => {}) {
  const { org_id, owner } = await harness.newOrganisation();
  let attempts = 0;
  const clock = {
    time: 0,
    monotonic: () => clock.time,
    now() {
      onAttempt(++attempts);
      return Date.now();
    },
  };
  const closing = new AbortController();
  const write = createWrite({
    db: harness.store.db,
    cipher: createCipher(SECRET_KEY),
    clock,
    closing: closing.signal,
    logger: { warn() {} },
    configChanged: async () => {},
  });
  const change = (during: () => unknown = () => {}) =>
    write({ ...owner, org_id, ip: null, user_agent: null }, 'thing.changed', async (_tx, change) => {
      change.audit({ id: 'thing' });
      await during();
      return change.stamp.row_version;
    });
  return { clock, closing, change };
}

test('a large change is made, compared and written to the audit log in separate turns: together they held the loop for 38 ms', async () => {
  const harness = await startHarness();
  const { org_id, owner } = await harness.newOrganisation();
  const { db } = harness.store;
  const write = createWrite({
    db,
    cipher: createCipher(SECRET_KEY),
    clock: harness.clock,
    logger: { warn() {} },
    configChanged: async () => {},
  });
  let turn = 0;
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  const seen = new Map<string, number>();
  const tookLong = (step: string) => {
    if (!seen.has(step)) seen.set(step, turn);
    turns.tookLong();
  };
  const large = {
    get field() {
      tookLong('compare');
      return { toJSON: () => tookLong('write') };
    },
  };
  await write({ ...owner, org_id, ip: null, user_agent: null }, 'thing.changed', async (_tx, change) => {
    change.audit({ id: 'thing', after: large });
    tookLong('change');
  });
  clearImmediate(counting);
  await harness.close();
  expect([...seen.keys()]).toEqual(['change', 'compare', 'write']);
  expect(new Set(seen.values()).size).toBe(3);
});

test('a change that has waited too long for others is told to come again', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { clock, change } = await startWrites(harness);
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const first = change(() => {
    begun.resolve();
    return held.promise;
  });
  const second = expect(change()).rejects.toMatchObject({ code: 'UNAVAILABLE', headers: { 'retry-after': '2' } });
  await begun.promise;
  clock.time += 11_000;
  held.resolve();
  await second;
  expect(await change(), 'the next one is not held up').toBe((await first) + 1);
});

test('a change that waits when the process stops is told to come again: its connection was cut without an answer', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { closing, change } = await startWrites(harness);
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const first = change(() => {
    begun.resolve();
    return held.promise;
  });
  const refused = { code: 'UNAVAILABLE', headers: { 'retry-after': '2' } };
  const waiting = [change(), change()].map((each) => expect(each).rejects.toMatchObject(refused));
  await begun.promise;
  closing.abort();
  await Promise.all(waiting);
  const late = expect(change()).rejects.toMatchObject(refused);
  held.resolve();
  expect(await first, 'the change in progress is stored').toBeGreaterThan(0);
  await late;
});

describe('beside a process that changes the configuration too', { tags: ['postgresql'] }, () => {
  async function startBesideOther() {
    const database = await startDatabase();
    const harness = await startHarness({ databaseUrl: database.url });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    onTestFinished(async () => {
      await other.end();
      await harness.close();
      await database.stop();
    });
    return { harness, other };
  }
  const LOCK = 'begin; update config_version set version = version where id = 1';

  test('a change waits for the other one: it was answered 503 after 2.5 s, in one of 30 during a rolling restart', async () => {
    const { harness, other } = await startBesideOther();
    const { change } = await startWrites(harness, (attempt) => attempt === 5 && void other.query('commit'));
    const { version } = await readConfigVersion(harness.store.db);
    await other.query(LOCK);
    expect(await change()).toBe(version + 1);
  });

  test('many changes at once leave the connections to readers, who were answered 503', async () => {
    const { harness, other } = await startBesideOther();
    const again = Promise.withResolvers<void>();
    const { change } = await startWrites(harness, (attempt) => attempt === 2 && again.resolve());
    const { version } = await readConfigVersion(harness.store.db);
    await other.query(LOCK);
    const changes = Array.from({ length: 20 }, () => change());
    await again.promise;
    expect(await readConfigVersion(harness.store.db)).toMatchObject({ version });
    await other.query('commit');
    expect(await Promise.all(changes)).toEqual(changes.map((_, n) => version + 1 + n));
  });
});
