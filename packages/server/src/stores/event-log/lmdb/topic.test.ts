import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLmdbLog } from '../lmdb.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

test('a search by time finds the first record of that time, while the topic grows and after records are erased', async () => {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-topic-'));
  let time = T0;
  const log = await openLmdbLog({ path, dedupWindowMs: 1_000, clock: { now: () => time, monotonic: () => time } });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
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
});
