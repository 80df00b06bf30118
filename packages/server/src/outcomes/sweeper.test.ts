import pino from 'pino';
import { expect, test } from 'vitest';
import type { Snapshot } from '../snapshot/types.ts';
import type { Append, EventLog } from '../stores/event-log/port.ts';
import type { Swept } from '../stores/observe/sweep.ts';
import type { Erasure } from './erasures.ts';
import { sweep } from './sweeper.ts';

test('raw records of a pipeline with a shorter retention are left to the eraser, with their event', async () => {
  const appended: Append[] = [];
  const steps: (string | number)[] = [];
  const log = {
    topics: async () => [],
    append: async (appends: Append[]) => {
      steps.push('queued');
      appended.push(...appends);
    },
  } as unknown as EventLog;
  const trace = { raw_topic: 'ingest.1', raw_position: '20', pipeline_id: 'pl', event_id: 'e20' };
  const rounds: Swept[] = [
    { removed: 0, adopted: 0, expiring: [trace] },
    { removed: 1, adopted: 0, expiring: [] },
    { removed: 0, adopted: 0, expiring: [] },
  ];
  await sweep({
    log,
    snapshots: { current: () => ({ pipelines: new Map() }) as unknown as Snapshot },
    rowWriter: {
      sweep: async (_ages, queued = []) => {
        steps.push(queued.length);
        return rounds.shift()!;
      },
    },
    clock: { now: () => 1, monotonic: () => 1 },
    logger: pino({ level: 'silent' }),
    settings: { eventRetentionMs: 1, deadLetterRetentionMs: 1 },
  });
  const erasures = appended.flatMap(({ records }) => records.map(({ data }) => JSON.parse(Buffer.from(data).toString()) as Erasure));
  expect(erasures).toEqual([{ places: [['ingest.1', ['20'], ['pl:e20']]], ids: [] }]);
  // The trace is removed once its record is queued.
  expect(steps).toEqual([0, 'queued', 1, 0]);
});
