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

test('a topic that cannot be read stops neither the expiry of the others nor that of the rows', async () => {
  const expired: string[] = [];
  const log = {
    topics: async (prefix: string) => (prefix === 'events.' ? ['events.a', 'events.damaged', 'events.b'] : []),
    expire: async (topic: string) => {
      if (topic === 'events.damaged') throw new RangeError('the block is damaged');
      return expired.push(topic);
    },
  } as unknown as EventLog;
  let swept = 0;
  const sweeping = sweep({
    log,
    snapshots: { current: () => ({ pipelines: new Map() }) as unknown as Snapshot },
    rowWriter: { sweep: async () => ({ removed: swept++ === 0 ? 1 : 0, adopted: 0, expiring: [] }) },
    clock: { now: () => 1, monotonic: () => 1 },
    logger: pino({ level: 'silent' }),
    settings: { eventRetentionMs: 1, deadLetterRetentionMs: 1 },
  });
  await expect(sweeping).rejects.toThrow('the topic events.damaged does not expire');
  expect([expired, swept]).toEqual([['events.a', 'events.b'], 2]);
});
