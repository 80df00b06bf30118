import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../conformance/kit.ts';
import { openLmdbLog } from '../lmdb.ts';
import type { Delivery, LogRecord } from '../port.ts';

const RECORD_BYTES = 10_000;

test('a record in hand stays as it was while its buffer is used again', async () => {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-tail-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
  const held: Delivery[] = [];
  log.consume('events.a', 'g', { start: 'beginning', maxInFlight: 2_000, maxBatch: 50 }, async (batch) => void held.push(...batch));
  // Three times what the cache holds, in commits of different sizes.
  let n = 0;
  for (let commit = 0; n < 1_300; commit++) {
    const records = Array.from({ length: 1 + (commit % 40) }, (): LogRecord => record(n++));
    await log.append([{ topic: 'events.a', records }]);
  }
  await until(() => held.length === n);
  const expected = Array.from({ length: n }, (_, i) => record(i));
  expect(held.map(({ record: { id } }) => id)).toEqual(expected.map(({ id }) => id));
  expect(held.every(({ record: { data } }, i) => Buffer.compare(data, expected[i]?.data ?? Buffer.alloc(0)) === 0)).toBe(true);
});

test('a consumer that reads late gets every record, in order and as it was', async () => {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-tail-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
  const held: Record<'soon' | 'late', Delivery[]> = { soon: [], late: [] };
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const options = { start: 'beginning', maxInFlight: 2_000, maxBatch: 50 } as const;
  log.consume('events.a', 'soon', options, async (batch) => void held.soon.push(...batch));
  log.consume('events.a', 'late', { ...options, readsLate: true }, async (batch) => {
    held.late.push(...batch);
    await opened;
  });
  for (let n = 0; n < 200; n++) await log.append([{ topic: 'events.a', records: [record(n)] }]);
  await until(() => held.soon.length === 200);
  // The reader that keeps up has passed all commits, so their buffers are used again.
  open();
  await until(() => held.late.length === 200);
  for (const deliveries of [held.soon, held.late])
    expect(deliveries.every(({ record: { id, data } }, i) => id === `id-${i}` && Buffer.compare(data, record(i).data) === 0)).toBe(true);
});

function record(i: number): LogRecord {
  return { id: `id-${i}`, data: Buffer.alloc(RECORD_BYTES, `${i},`) };
}
