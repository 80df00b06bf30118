import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LmdbLog, openLmdbLog } from '../lmdb.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

/** Calls `work` with a log and closes it. */
async function withLog(work: (log: LmdbLog) => Promise<void>, now = () => T0): Promise<LmdbLog> {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-topic-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 1_000, clock: { now, monotonic: now } });
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  try {
    await work(log);
  } finally {
    await log.close();
  }
  return log;
}
const idsOf = (found: readonly ({ id: string } | undefined)[]) => found.map((record) => record?.id);

test('records are found while the first record of their block is erased', async () => {
  await withLog(async (log) => {
    const records = ['a', 'b', 'c', 'd'].map((id) => ({ id, data: Buffer.from(id) }));
    const [appended] = await log.append([{ topic: 'events', records }]);
    const [first, ...rest] = appended!.positions as string[];
    let erased = false;
    const erasing = log.erase('events', [first!]).then(() => {
      erased = true;
    });
    while (!erased) expect(idsOf(await log.getMany('events', rest))).toEqual(['b', 'c', 'd']);
    await erasing;
    expect(idsOf(await log.getMany('events', [first!, ...rest]))).toEqual([undefined, 'b', 'c', 'd']);
  });
});

test('large records are read backwards in several steps', async () => {
  await withLog(async (log) => {
    for (const id of ['a', 'b', 'c']) await log.append([{ topic: 'events', records: [{ id, data: Buffer.alloc(700_000, id) }] }]);
    const read: string[] = [];
    for await (const { id, data } of log.read('events', { limit: 10, reverse: true })) read.push(`${id} ${data.length} ${data[0]}`);
    expect(read).toEqual(['c 700000 99', 'b 700000 98', 'a 700000 97']);
  });
});

test('packed records come in parts of half a megabyte, a larger one alone', async () => {
  await withLog(async (log) => {
    for (let n = 0; n < 8; n++) {
      const large = n === 5 ? 700_000 : 1_000;
      const records = Array.from({ length: 200 }, (_, i) => ({ id: `${n}/${i}`, data: Buffer.alloc(i === 100 ? large : 1_000, i) }));
      await log.append([{ topic: 'events', records }]);
    }
    const parts: number[] = [];
    const first: (number | undefined)[] = [];
    for await (const { bytes, ends, oldest } of log.readPacked('events', { limit: 1_500 })) {
      expect(ends.at(-1)).toBe(bytes.length);
      for (const i of ends.keys()) first.push(bytes[ends[i - 1] ?? 0]);
      expect(Number(oldest)).toBe(1_601 - first.length);
      parts.push(bytes.length);
    }
    expect(first).toEqual(Array.from({ length: 1_500 }, (_, n) => (1_599 - n) % 200));
    expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBe(1_499_000 + 700_000);
    for (const bytes of parts) expect(bytes === 700_000 || bytes <= 524_288).toBe(true);
    expect(parts.length).toBeLessThan(8);
  });
});

test('a read after the log was closed is refused', async () => {
  const log = await withLog(async (open) => {
    await open.append([{ topic: 'events', records: [{ id: 'a', data: Buffer.from('a') }] }]);
  });
  await expect(log.get('events', '0000000000000001')).rejects.toThrow('closed');
  await expect(log.read('events', { limit: 1 })[Symbol.asyncIterator]().next()).rejects.toThrow('closed');
});

test('a search by time finds the first record of that time, while the topic grows and after records are erased', async () => {
  let time = T0;
  await withLog(
    async (log) => {
      const kept: { position: string; time: number }[] = [];
      const appendUntil = async (end: number) => {
        for (; time < end; time += 1_000) {
          const records = ['a', 'b', 'c'].map((name) => ({ id: `${name}-${time}`, data: Buffer.from(name) }));
          const [appended] = await log.append([{ topic: 'events', records }]);
          kept.push(...appended!.positions.map((position) => ({ position: position!, time })));
        }
      };
      const check = async () => {
        for (let at = T0 - 500; at < time + 1_000; at += 1_500) {
          const expected = kept.find((record) => record.time >= at)?.position;
          const found: string[] = [];
          for await (const { position } of log.read('events', { from: new Date(at), limit: 1 })) found.push(position);
          expect(found[0], `at ${at - T0}`).toBe(expected);
        }
      };
      await appendUntil(T0 + 60_000);
      await check();
      await appendUntil(T0 + 100_000);
      await check();
      // A part of a block, the whole of two, and a part of the next.
      const gone = kept.splice(95, 9).map(({ position }) => position);
      expect(await log.erase('events', gone)).toEqual([]);
      await check();
    },
    () => time,
  );
});
