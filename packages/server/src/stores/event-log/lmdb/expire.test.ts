import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { collect, record, records, until } from '../conformance/kit.ts';
import { type LmdbLog, type LmdbLogOptions, openLmdbLog } from '../lmdb.ts';
import type { Delivery } from '../port.ts';

const topic = 'events.old';

async function open(options: Partial<LmdbLogOptions> = {}): Promise<LmdbLog> {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-expire-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 60_000, ...options });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
  return log;
}
const ids = async (log: LmdbLog, name = topic) => (await collect(log.read(name, { limit: 1_000 }))).map(({ id }) => id);

test('an invalid date expires nothing', async () => {
  const log = await open();
  await log.append([{ topic, records: records(topic, 3) }]);
  expect(await log.expire(topic, new Date(Number.NaN))).toBe(0);
  expect(await ids(log)).toHaveLength(3);
});

test('a jump of the wall clock does not expire records whose times lag behind it', async () => {
  let jump = 0;
  const log = await open({ clock: { now: () => Date.now() + jump, monotonic: () => performance.now() } });
  jump = 3_600_000;
  await log.append([{ topic, records: records(topic, 1) }]);
  expect(await log.expire(topic, new Date(Date.now() + jump - 60_000))).toBe(0);
  expect(await ids(log)).toHaveLength(1);
});

test('erasures of one topic at the same time neither bring records back nor double them', async () => {
  const log = await open();
  const [appended] = await log.append([{ topic, records: records(topic, 6) }]);
  const at = (...numbers: number[]) => numbers.map((n) => appended!.positions[n]!);
  await Promise.all([log.erase(topic, at(0, 1)), log.erase(topic, at(2)), log.erase(topic, at(5))]);
  expect(await ids(log)).toEqual(
    records(topic, 6)
      .slice(3, 5)
      .map(({ id }) => id),
  );
});

test('records appended while their topic is removed are found under its name, and their number is not reused', async () => {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-expire-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  let log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  await log.append([{ topic, records: records(topic, 1) }]);
  await Promise.all([log.remove(topic), log.append([{ topic, records: [record('again')] }])]);
  await log.close();
  log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  await log.append([{ topic: 'events.other', records: [record('other')] }]);
  expect([await ids(log), await ids(log, 'events.other')]).toEqual([['again'], ['other']]);
  // The last topic goes, and its number is not given to the next one.
  await log.remove('events.other');
  await log.close();
  log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  await log.append([{ topic: 'events.third', records: [record('third')] }]);
  const numbers = [...log.environment.store('records').getKeys()].map((key) => key.readUInt32BE(0));
  expect(new Set(numbers).size).toBe(2);
  expect(Math.max(...numbers)).toBeGreaterThan(3);
  await log.close();
});

test('an acknowledgement whose derived records cannot be made fails alone, and can be repeated', async () => {
  const log = await open();
  await log.append([{ topic, records: records(topic, 2) }]);
  const held: Delivery[] = [];
  log.consume(topic, 'g', { start: 'beginning', maxInFlight: 2, maxBatch: 2 }, async (batch) => void held.push(...batch));
  await until(() => held.length === 2);
  const [first, second] = held as [Delivery, Delivery];
  const outcome = (id: string) => ({ topic: 'outcomes', records: [record(id)] });
  const failing = log.ackAll([first], {
    appends: [outcome('half')],
    derive: () => {
      throw new RangeError('Invalid time value');
    },
  });
  const others = Promise.all([log.append([outcome('beside')]), log.ackAll([second], { appends: [outcome('second')], derive: () => [] })]);
  await expect(failing).rejects.toThrow('Invalid time value');
  await others;
  expect(await log.lag(topic, 'g')).toMatchObject({ waiting: 1 });
  await log.ackAll([first], { appends: [outcome('first')], derive: () => [] });
  expect(await log.lag(topic, 'g')).toMatchObject({ waiting: 0 });
  expect(await ids(log, 'outcomes')).toEqual(['beside', 'second', 'first']);
});
