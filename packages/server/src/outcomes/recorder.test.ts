import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_PARTITIONS, ingestPartitions } from '../partition.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { openLmdbLog } from '../stores/event-log/lmdb.ts';
import type { EventLog, StoredRecord } from '../stores/event-log/port.ts';
import { embeddedLeases } from '../stores/leases/embedded.ts';
import { OUTCOMES_TOPIC, RECORDER_GROUP } from './outcome-log.ts';
import { type RecorderDeps, startRecorder } from './recorder.ts';

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
  const waiting = async () => (await log.lag(OUTCOMES_TOPIC, RECORDER_GROUP)).waiting;
  await expect.poll(waiting).toBe(3 - settled);
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
  await expect.poll(waiting).toBe(0);
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

test('more partitions on a running installation: the recorder reads the further topics too, and keeps the others', async () => {
  const before = [{ count: DEFAULT_PARTITIONS, from: 0 }];
  onTestFinished(() => ingestPartitions.update(before));
  const read: string[] = [];
  const stopped: string[] = [];
  const consume = (topic: string) => {
    read.push(topic);
    return { started: Promise.resolve(), stop: async () => void stopped.push(topic) };
  };
  const recorder = startRecorder({
    log: { atomic: false, consume } as unknown as EventLog,
    leases: embeddedLeases(),
    rowWriter: {} as RecorderDeps['rowWriter'],
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    telemetry: undefined,
  });
  await expect.poll(() => read).toHaveLength(9);
  ingestPartitions.update([...before, { count: 2 * DEFAULT_PARTITIONS, from: 1 }]);
  await expect.poll(() => read).toHaveLength(17);
  expect(new Set(read)).toEqual(new Set(['outcomes', ...Array.from({ length: 16 }, (_, part) => `outcomes.${part}`)]));
  expect(stopped).toEqual([]);
  await recorder.stop();
  expect(new Set(stopped)).toEqual(new Set(read));
});
