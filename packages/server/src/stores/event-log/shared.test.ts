/** The embedded log as two threads use it: one appends to the topics of ingest, the other one reads them and does the rest. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { ThreadLink } from '../../runtime/thread-link.ts';
import { describeEventLog } from './conformance/index.ts';
import { BEGINNING, collect, record, records, texts, until } from './conformance/kit.ts';
import { type LmdbLog, openIngestLog, openLmdbLog } from './lmdb.ts';
import type { Delivery, EventLog } from './port.ts';
import { followIngest, LOG_ERRORS, sharedLog, shareLog } from './shared.ts';

const TOPICS = ['ingest.0', 'ingest.1'];

interface TwoThreads {
  /** Of the thread that accepts events. */
  front: EventLog;
  /** Of the thread of the other roles. */
  back: LmdbLog;
  close(): Promise<void>;
}
const fail = (error: unknown) => {
  throw error;
};

function connected(back: LmdbLog): { here: ThreadLink; there: ThreadLink; close(): Promise<void> } {
  const { port1, port2 } = new MessageChannel();
  const [here, there] = [new ThreadLink(port1, LOG_ERRORS), new ThreadLink(port2, LOG_ERRORS)];
  const shared = shareLog(there, back);
  return {
    here,
    there,
    async close() {
      await shared.close();
      port1.close();
      port2.close();
    },
  };
}

async function open(path: string, dedupWindowMs = 3_600_000): Promise<TwoThreads> {
  const onStored = (topic: string, next: number) => link.here.tell('log.grown', [topic, next]);
  const ingest = await openIngestLog({ path, dedupWindowMs, clock: systemClock, topics: TOPICS, onFatal: fail, onError: fail, onStored });
  const back = await openLmdbLog({ path, dedupWindowMs, part: 'others' });
  const link = connected(back);
  followIngest(link.there, back);
  const front = sharedLog(link.here, ingest);
  return {
    front,
    back,
    async close() {
      await back.close();
      await front.close();
      await link.close();
    },
  };
}
/** As the management API uses it: the other thread appends to the topics of ingest, too. */
async function openAsking(path: string, dedupWindowMs = 3_600_000): Promise<TwoThreads> {
  const back = await openLmdbLog({ path, dedupWindowMs });
  const link = connected(back);
  const front = sharedLog(link.here);
  return {
    front,
    back,
    async close() {
      await front.close();
      await link.close();
      await back.close();
    },
  };
}
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-shared-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
async function fresh(path = folder()): Promise<TwoThreads> {
  const threads = await open(path);
  onTestFinished(() => threads.close());
  return threads;
}
function read(log: EventLog, topic: string, group = 'process'): Delivery[] {
  const seen: Delivery[] = [];
  const consumer = log.consume(topic, group, BEGINNING, async (batch) => {
    seen.push(...batch);
    await log.ackAll(batch);
  });
  onTestFinished(() => consumer.stop());
  return seen;
}

describe('topics of ingest', () => {
  test('what one thread appends, a group of the other one reads in order, also what came before it', async () => {
    const { front, back } = await fresh();
    await front.append([{ topic: 'ingest.0', records: records('ingest.0', 3) }]);
    const seen = read(back, 'ingest.0');
    await until(() => seen.length === 3);
    for (let i = 1; i < 50; i++) await front.append([{ topic: 'ingest.0', records: records('ingest.0', 3, 3 * i) }]);
    await until(() => seen.length === 150);
    expect(texts(seen.map((delivery) => delivery.record))).toEqual(Array.from({ length: 150 }, (_, i) => `data ${i}`));
    await until(async () => (await front.lag('ingest.0', 'process')).waiting === 0);
  });

  test('a repeated id is dropped, also after a restart and with another number of threads', async () => {
    const path = folder();
    const stored = async (log: EventLog) => (await log.append([{ topic: 'ingest.1', records: [record('again')] }]))[0]?.positions;
    const two = await open(path);
    expect(await stored(two.front)).toEqual([expect.any(String)]);
    expect(await stored(two.front)).toEqual([undefined]);
    await two.close();
    const one = await openLmdbLog({ path, dedupWindowMs: 3_600_000 });
    expect(await stored(one)).toEqual([undefined]);
    await one.append([{ topic: 'ingest.1', records: [record('from one thread')] }]);
    await one.close();
    const { front, back } = await fresh(path);
    expect(await stored(front)).toEqual([undefined]);
    expect((await front.append([{ topic: 'ingest.1', records: [record('from one thread')] }]))[0]?.positions).toEqual([undefined]);
    await front.append([{ topic: 'ingest.1', records: [record('from two threads')] }]);
    const seen = read(back, 'ingest.1');
    await until(() => seen.length === 3);
    expect(seen.map((delivery) => delivery.record.id)).toEqual(['again', 'from one thread', 'from two threads']);
  });

  test('ids of other topics are remembered by the other thread', async () => {
    const path = folder();
    const two = await open(path);
    await two.front.append([{ topic: 'replay.int_1', records: [record('replayed')] }]);
    await two.close();
    const { front, back } = await fresh(path);
    expect(await front.append([{ topic: 'replay.int_1', records: [record('replayed')] }])).toEqual([{ positions: [undefined] }]);
    expect(await back.append([{ topic: 'replay.int_1', records: [record('replayed')] }])).toEqual([{ positions: [undefined] }]);
  });

  test('one append may go to topics of both threads: results come in its order', async () => {
    const { front, back } = await fresh();
    const append = (topic: string, ...ids: string[]) => ({ topic, records: ids.map((id) => record(id)) });
    const results = await front.append([append('outcomes', 'a'), append('ingest.0', 'b', 'b'), append('limits.int_1', 'c')]);
    expect(results.map(({ positions }) => positions.map((position) => position !== undefined))).toEqual([[true], [true, false], [true]]);
    for (const [topic, id] of [['outcomes', 'a'] as const, ['ingest.0', 'b'] as const, ['limits.int_1', 'c'] as const])
      expect((await collect(back.read(topic, { limit: 10 }))).map((found) => found.id)).toEqual([id]);
  });

  test('the other thread cannot append to them', async () => {
    const { back } = await fresh();
    await expect(back.append([{ topic: 'ingest.0', records: [record('x')] }])).rejects.toThrow('written by another thread');
  });

  test('expired and erased records are gone in both threads, and later ones get new positions', async () => {
    const { front, back } = await fresh();
    const append = (count: number, from: number) => front.append([{ topic: 'ingest.0', records: records('ingest.0', count, from) }]);
    const [first] = await append(10, 0);
    const seen = read(back, 'ingest.0');
    await until(() => seen.length === 10);
    await until(async () => (await front.lag('ingest.0', 'process')).waiting === 0);
    expect(await front.erase('ingest.0', [first!.positions[3]!])).toEqual([]);
    expect(await front.get('ingest.0', first!.positions[3]!)).toBeUndefined();
    expect(await front.expire('ingest.0', new Date(Date.now() + 60_000))).toBe(9);
    const [later] = await append(1, 10);
    expect(later!.positions[0]! > first!.positions[9]!).toBe(true);
    await until(() => seen.length === 11);
  });
});

describe('asked from the other thread', () => {
  test('reads of many pages, in both directions and from a position', async () => {
    const { front } = await fresh();
    await front.append([{ topic: 'events.pl_1', records: records('events.pl_1', 300) }]);
    const all = await collect(front.read('events.pl_1', { limit: 1_000 }));
    expect(texts(all)).toEqual(Array.from({ length: 300 }, (_, i) => `data ${i}`));
    expect(texts(await collect(front.read('events.pl_1', { limit: 130, reverse: true })))).toEqual(
      Array.from({ length: 130 }, (_, i) => `data ${299 - i}`),
    );
    const after = all[9]!.position;
    expect(texts(await collect(front.read('events.pl_1', { limit: 2, after })))).toEqual(['data 10', 'data 11']);
    expect(texts((await front.getMany('events.pl_1', [all[5]!.position, 'nonsense'])).filter((found) => found !== undefined))).toEqual([
      'data 5',
    ]);
  });

  test('large records come in several answers, none missing and none twice', async () => {
    const { front } = await fresh();
    const large = Array.from({ length: 40 }, (_, i) => ({ id: `large-${i}`, data: Buffer.alloc(40_000, i) }));
    const [stored] = await front.append([{ topic: 'events.pl_1', records: large }]);
    const positions = stored!.positions.map((position) => position!);
    const asked = ['nonsense', ...positions.toReversed(), positions[0]!];
    const found = await front.getMany('events.pl_1', asked);
    expect(found.map((record) => record?.position)).toEqual([undefined, ...asked.slice(1)]);
    expect(found.map((record) => record?.data[0])).toEqual([undefined, ...large.map((_, i) => 39 - i), 0]);
    const read = await collect(front.read('events.pl_1', { limit: 30 }));
    expect(read.map(({ id }) => id)).toEqual(large.slice(0, 30).map(({ id }) => id));
  });

  test('packed records come in order, and the position of the oldest with them', async () => {
    const { front } = await fresh();
    await front.append([{ topic: 'events.pl_1', records: records('events.pl_1', 5) }]);
    for await (const { bytes, ends, oldest } of front.readPacked('events.pl_1', { limit: 2 })) {
      expect(ends).toHaveLength(2);
      expect(Buffer.from(bytes.subarray(0, ends[0])).toString()).toBe('data 4');
      expect(texts([(await front.get('events.pl_1', oldest))!])).toEqual(['data 3']);
    }
    const large = Array.from({ length: 30 }, (_, i) => ({ id: `large-${i}`, data: Buffer.alloc(60_000, i) }));
    await front.append([{ topic: 'events.pl_2', records: large }]);
    const first: (number | undefined)[] = [];
    for await (const { bytes, ends } of front.readPacked('events.pl_2', { limit: 25 }))
      for (const i of ends.keys()) first.push(bytes[ends[i - 1] ?? 0]);
    expect(first).toEqual(Array.from({ length: 25 }, (_, i) => 29 - i));
  });

  test('groups are not read here', async () => {
    const { front } = await fresh();
    expect(() => front.consume('ingest.0', 'process', BEGINNING, async () => undefined)).toThrow('in the thread that has the log');
  });
});

test('a log that cannot store is known as such in the other thread', async () => {
  const path = folder();
  const back = await openLmdbLog({ path, dedupWindowMs: 1_000 });
  let available = true;
  const link = connected(Object.create(back, { available: { get: () => available } }) as LmdbLog);
  onTestFinished(async () => {
    await link.close();
    await back.close();
  });
  const front = sharedLog(link.here);
  expect(front.available).toBe(true);
  available = false;
  await until(() => !front.available);
  available = true;
  await until(() => front.available);
});

test('a log that could not store before the other thread opened it is known as such there', async () => {
  const back = await openLmdbLog({ path: folder(), dedupWindowMs: 1_000 });
  const link = connected(Object.create(back, { available: { value: false } }) as LmdbLog);
  onTestFinished(async () => {
    await link.close();
    await back.close();
  });
  // Notices that were sent so far have arrived when a call is answered.
  link.there.answer('ping', () => undefined);
  await link.here.call('ping');
  const front = sharedLog(link.here);
  await until(() => !front.available);
});

/** Groups are read in the other thread; everything else is asked for. */
const both = ({ front, back, close }: TwoThreads): EventLog =>
  Object.assign(Object.create(front) as EventLog, {
    consume: back.consume.bind(back),
    ackAll: back.ackAll.bind(back),
    close,
  });

describe.each([
  ['LMDB, used from another thread', open],
  ['LMDB, used from a thread that appends nothing', openAsking],
])('%s', (name, openThreads) => {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-shared-'));
  let threads: TwoThreads;
  beforeAll(async () => {
    threads = await openThreads(path);
  });
  afterAll(async () => {
    await threads.close();
    rmSync(path, { recursive: true, force: true });
  });
  describeEventLog(name, () => ({
    log: () => both(threads),
    async reopen() {
      await threads.close();
      threads = await openThreads(path);
    },
    async withWindow(dedupWindowMs) {
      const own = mkdtempSync(join(tmpdir(), 'firsthand-shared-'));
      const short = await openThreads(own, dedupWindowMs);
      onTestFinished(async () => {
        await short.close();
        rmSync(own, { recursive: true, force: true });
      });
      return both(short);
    },
  }));
});
