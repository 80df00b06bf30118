import pino from 'pino';
import { expect, test } from 'vitest';
import type { Snapshot } from '../snapshot/types.ts';
import type { Append, EventLog } from '../stores/event-log/port.ts';
import type { Swept } from '../stores/observe/sweep.ts';
import type { Erasure } from './erasures.ts';
import { sweep } from './sweeper.ts';

test('raw records of a pipeline with a shorter retention are left to the eraser, with their event', async () => {
  const appended: Append[] = [];
  const log = {
    topics: async () => [],
    append: async (appends: Append[]) => void appended.push(...appends),
  } as unknown as EventLog;
  const rounds: Swept[] = [
    { removed: 1, adopted: 0, raw: [{ topic: 'ingest.1', position: '20', pipeline_id: 'pl', event_id: 'e20' }] },
    { removed: 0, adopted: 0, raw: [] },
  ];
  await sweep({
    log,
    snapshots: { current: () => ({ pipelines: new Map() }) as unknown as Snapshot },
    rowWriter: { sweep: async () => rounds.shift()! },
    clock: { now: () => 1, monotonic: () => 1 },
    logger: pino({ level: 'silent' }),
    settings: { eventRetentionMs: 1, deadLetterRetentionMs: 1 },
  });
  const erasures = appended.flatMap(({ records }) => records.map(({ data }) => JSON.parse(Buffer.from(data).toString()) as Erasure));
  expect(erasures).toEqual([{ places: [['ingest.1', ['20'], ['pl:e20']]], ids: [] }]);
});
