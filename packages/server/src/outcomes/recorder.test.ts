import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../runtime/metrics.ts';
import { openLmdbLog } from '../stores/event-log/lmdb.ts';
import type { StoredRecord } from '../stores/event-log/port.ts';
import { embeddedLeases } from '../stores/leases/embedded.ts';
import { OUTCOMES_TOPIC, RECORDER_GROUP } from './outcome-log.ts';
import { startRecorder } from './recorder.ts';

/** A log of three outcomes, of which the recorder has settled the first ones, and rows that end at a position. */
async function recorded({ settled, position }: { settled: number; position: (positions: string[]) => string }): Promise<string[]> {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-recorder-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
  const records = ['a', 'b', 'c'].map((id) => ({ id, data: Buffer.from('[]') }));
  const [appended] = await log.append([{ topic: OUTCOMES_TOPIC, records }]);
  const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
  const before = log.consume(OUTCOMES_TOPIC, RECORDER_GROUP, options, async (batch) => log.ackAll(batch.slice(0, settled)));
  await vi.waitFor(async () => expect((await log.lag(OUTCOMES_TOPIC, RECORDER_GROUP)).waiting).toBe(3 - settled));
  await before.stop();

  let written = position(appended!.positions as string[]);
  const rows: string[] = [];
  const rowWriter = {
    position: async () => written,
    async record(_topic: string, part: readonly StoredRecord[], anew = false) {
      rows.push(...part.filter((record) => anew || record.position > written).map(({ id }) => id));
      written = part.at(-1)!.position;
      return { counted: {}, unreadable: [], spans: [] };
    },
  };
  const logger = pino({ level: 'silent' });
  const leases = embeddedLeases();
  const recorder = startRecorder({ log, leases, rowWriter, logger, metrics: createMetrics(), telemetry: undefined });
  await vi.waitFor(async () => expect((await log.lag(OUTCOMES_TOPIC, RECORDER_GROUP)).waiting).toBe(0));
  await recorder.stop();
  return rows;
}

test('rows that are newer than the log after a restore: the next outcomes are recorded all the same', async () => {
  expect(await recorded({ settled: 2, position: () => '0000000000099999' })).toEqual(['c']);
});

test('rows that are older than the log after a restore: outcomes that the log counts as settled are read again', async () => {
  expect(await recorded({ settled: 2, position: ([a]) => a! })).toEqual(['b', 'c']);
});

test('rows of a crash before the acknowledgement are not written twice', async () => {
  expect(await recorded({ settled: 0, position: ([, b]) => b! })).toEqual(['c']);
});
