import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLmdbLog } from '../lmdb.ts';
import type { Delivery } from '../port.ts';

test('a reader of old records gets each as it was stored, also after a failure, and settled ones are freed with the last of their block', async () => {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-consumer-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 1_000 });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
  const names = ['a', 'b', 'c', 'd', 'e'];
  // One block.
  await log.append([{ topic: 'outcomes', records: names.map((id) => ({ id, data: Buffer.from(`of ${id}`) })) }]);
  const options = { start: 'beginning', maxInFlight: 2, maxBatch: 2, ordered: true, readsLate: true } as const;
  const textOf = ({ record }: Delivery) => Buffer.from(record.data).toString();
  const batches: string[][] = [];
  const settled: Delivery[] = [];
  const kept: string[][] = [];
  const ended = Promise.withResolvers<void>();
  const consumer = log.consume('outcomes', 'recorder', options, async (batch) => {
    batches.push(batch.map(textOf));
    if (batches.length === 2) throw new Error('not now');
    await log.ackAll(batch);
    settled.push(...batch);
    kept.push(settled.map(textOf));
    if (settled.length === names.length) ended.resolve();
  });
  await ended.promise;
  await consumer.stop();
  expect(batches).toEqual([['of a', 'of b'], ['of c', 'of d'], ['of c', 'of d'], ['of e']]);
  // Until the end the block holds records that are still to come.
  expect(kept).toEqual([
    ['of a', 'of b'],
    ['of a', 'of b', 'of c', 'of d'],
    ['', '', '', '', ''],
  ]);
});
