import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { collect, record, records, until } from '../conformance/kit.ts';
import { type LmdbLog, openLmdbLog } from '../lmdb.ts';
import { type Delivery, LogUnavailable } from '../port.ts';

const topic = 'events.noted';
const about = ({ record: { id } }: Delivery) => `about ${id}`;
const settle = (log: LmdbLog, delivery: Delivery) =>
  log.ackAll([delivery], { appends: [{ topic: 'outcomes', records: [record(about(delivery))] }] });
const outcomes = async (log: LmdbLog) => (await collect(log.read('outcomes', { limit: 2_000 }))).map(({ id }) => id);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-noted-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A log that has handed out all it has, and whose commits go by `disk` from now on. */
async function handedOut(count: number, disk: (commit: () => Promise<void>) => Promise<void>): Promise<Held> {
  const path = folder();
  const log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  onTestFinished(() => log.close());
  await log.append([{ topic, records: records(topic, count) }]);
  const held: Delivery[] = [];
  log.consume(topic, 'g', { start: 'beginning', maxInFlight: count, maxBatch: count }, async (batch) => void held.push(...batch));
  await until(() => held.length === count);
  // The group itself is stored by now.
  await log.append([{ topic, records: [] }]);
  const { environment } = log;
  const { commit } = environment;
  environment.commit = (write) => disk(() => commit(write));
  return { log, held, path };
}
interface Held {
  log: LmdbLog;
  held: Delivery[];
  path: string;
}
class Standstill {
  #go = (): void => {};
  readonly #over = new Promise<void>((resolve) => {
    this.#go = resolve;
  });
  commit = async (commit: () => Promise<void>): Promise<void> => {
    await this.#over;
    return commit();
  };
  end(): void {
    this.#go();
  }
}
/** What a process leaves that had handed out so many, and settled the first of them, when it died before its commit. */
async function died(count: number, settled: number): Promise<Omit<Held, 'log'> & { left: string }> {
  const disk = new Standstill();
  const { log, held, path } = await handedOut(count, disk.commit);
  for (const delivery of held.slice(0, settled)) await settle(log, delivery);
  const left = folder();
  cpSync(path, left, { recursive: true });
  disk.end();
  return { held, path, left };
}
/** The ids of the first records that the group gets. */
async function handsOut(log: LmdbLog): Promise<string[]> {
  const ids: string[] = [];
  log.consume(topic, 'g', { start: 'beginning', maxInFlight: 20, maxBatch: 20 }, async (batch) => {
    ids.push(...batch.map((delivery) => delivery.record.id));
  });
  await until(() => ids.length > 0);
  return ids;
}

test('while the disk stalls a thousand settlements are journaled and the others wait', async () => {
  const disk = new Standstill();
  const { log, held } = await handedOut(1_200, disk.commit);
  let settled = 0;
  for (const delivery of held) void settle(log, delivery).then(() => settled++);
  await until(() => settled >= 1_000);
  await sleep(50);
  expect(settled).toBe(1_000);
  disk.end();
  await until(() => settled === 1_200);
  await until(async () => (await log.lag(topic, 'g')).waiting === 0);
  expect(await outcomes(log)).toEqual(held.map(about));
});

test('settlements of a process that dies before its commit are applied by the next process, once', async () => {
  const { held, path, left } = await died(10, 8);

  for (let life = 0; life < 3; life++) {
    // As if the notes had not been cleared away.
    for (const name of ['noted.0', 'noted.1']) cpSync(join(path, name), join(left, name));
    const next = await openLmdbLog({ path: left, dedupWindowMs: 60_000 });
    expect(await handsOut(next)).toEqual(held.slice(8).map((delivery) => delivery.record.id));
    await until(async () => (await outcomes(next)).length > 0);
    expect(await outcomes(next)).toEqual(held.slice(0, 8).map(about));
    await next.close();
  }
});

test.each([
  ['is full', new LogUnavailable('full')],
  ['failed for others in the same commit', new Error('broken')],
])('where the disk %s they are stored by the next commit', async (_, error) => {
  let broken = true;
  const { log, held } = await handedOut(3, (commit) => (broken ? Promise.reject(error) : commit()));
  for (const delivery of held) await settle(log, delivery);
  await expect(log.append([{ topic, records: [record('refused')] }])).rejects.toThrow(error);
  broken = false;
  await until(async () => (await outcomes(log)).length > 0);
  expect(await outcomes(log)).toEqual(held.map(about));
  expect((await log.lag(topic, 'g')).waiting).toBe(0);
});

test('a log opened on a full disk delivers only records without a journaled settlement, and keeps the journal until it is stored', async () => {
  const { held, left } = await died(4, 3);
  for (const full of [true, false]) {
    const next = await openLmdbLog({ path: left, dedupWindowMs: 60_000 });
    if (full) next.environment.commit = () => Promise.reject(new LogUnavailable('full'));
    expect(await handsOut(next)).toEqual([held[3]!.record.id]);
    if (!full) await until(async () => (await outcomes(next)).length > 0);
    expect(await outcomes(next)).toEqual(full ? [] : held.slice(0, 3).map(about));
    await next.close();
  }
});

test('closing stores journaled settlements', async () => {
  const { log, held, path } = await handedOut(3, (commit) => commit());
  for (const delivery of held) await settle(log, delivery);
  await log.close();
  for (const name of ['noted.0', 'noted.1']) rmSync(join(path, name));
  const next = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  onTestFinished(() => next.close());
  expect((await next.lag(topic, 'g')).waiting).toBe(0);
  expect(await outcomes(next)).toEqual(held.map(about));
});
