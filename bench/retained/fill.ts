/**
 * Fills a stopped installation with events through the writers of its stores: records are appended to the log, and rows are written by the
 * recorder's own function in a thread, in larger batches than a running service has. The injected clock follows the times of the events.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { eventsTopic } from '../../packages/server/src/event-record.ts';
import { EMBEDDED_PARTITIONS, ingestTopic, PROCESS_GROUP } from '../../packages/server/src/partition.ts';
import type { Clock } from '../../packages/server/src/runtime/clock.ts';
import { openLmdbLog } from '../../packages/server/src/stores/event-log/lmdb.ts';
import { OBSERVE_FILE } from '../../packages/server/src/stores/observe/tables.ts';
import { readOriginal, recordCopier, type Template } from './copies.ts';
import type { RowBatch, RowThreadData } from './row-thread.ts';

export interface Retained extends Template {
  dataDir: string;
  integration: string;
}
const DAYS = 6.5;
/** Filling has time, also beside other work. */
const COMMIT_MS = 600_000;
/** As many at every size: what depends on the number of minutes with events (statistics) is the same. */
const MINUTES = 500;
/** The events of a minute are spread over this part of it, in the order of the log, as those of a running service are. */
const SPREAD_MS = 50_000;

export interface FillPlan {
  /** Events that are there already, from an earlier call. */
  from: number;
  /** The number to reach. */
  to: number;
  /** Of which the events cover the days before `until`. */
  total: number;
  until: number;
  /** Stops earlier when this much time has passed. */
  atMostMs: number;
}
/** Resolves with the number of events that are there now. */
export async function fill({ dataDir, integration, ...template }: Retained, plan: FillPlan): Promise<number> {
  const { from, to, total, until, atMostMs } = plan;
  const clockAt = (n: number) => until - DAYS * 86_400_000 * (1 - n / total);
  let time = clockAt(from);
  const clock: Clock = { now: () => time, monotonic: () => time };
  const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 86_400_000, clock, commitTimeoutMs: COMMIT_MS });
  const original = await readOriginal(log, template);
  const copy = recordCopier(template, original, total);
  const rows = startRowThread({ file: join(dataDir, OBSERVE_FILE), template, original, total });
  const processed = eventsTopic(template.pipeline);
  const topics = Array.from({ length: EMBEDDED_PARTITIONS }, (_, partition) => ingestTopic(partition));
  const started = performance.now();
  const atOnce = Math.ceil(total / MINUTES);
  let filled = from;
  while (filled < to && performance.now() - started < atMostMs) {
    const first = filled;
    filled = Math.min(to, first + atOnce);
    time = clockAt(filled);
    const minute = Math.floor(time / 60_000) * 60_000;
    const batch = Array.from({ length: filled - first }, (_, i) => ({ n: first + i, at: minute + Math.floor((i * SPREAD_MS) / atOnce) }));
    const parts = topics.map((topic, partition) => ({ topic, copies: batch.filter(({ n }) => n % EMBEDDED_PARTITIONS === partition) }));
    const [canonical, ...raw] = await log.append([
      { topic: processed, records: batch.map(({ n, at }) => copy.event(n, at)) },
      ...parts.map(({ topic, copies }) => ({ topic, records: copies.map(({ n, at }) => copy.raw(n, at)) })),
    ]);
    const rawOf = new Map(parts.flatMap(({ copies }, p) => copies.map(({ n }, i) => [n, raw[p]?.positions[i] ?? ''])));
    await rows.write(
      batch.map(({ n, at }, i) => {
        const topic = topics[n % EMBEDDED_PARTITIONS] ?? '';
        return { n, at, places: { topic, raw: rawOf.get(n), stored: canonical?.positions[i] } };
      }),
    );
    if (filled % 100_000 === 0)
      console.log(`${filled} of ${to} events, ${Math.round((filled - from) / ((performance.now() - started) / 1_000))} per second`);
  }
  await rows.close();
  // The groups have settled all of it.
  time = until;
  const groups: [topic: string, group: string][] = [
    ...topics.map((topic): [string, string] => [topic, PROCESS_GROUP]),
    [processed, integration],
  ];
  for (const [topic, group] of groups) {
    await log.remove(topic, group);
    await log.consume(topic, group, { start: new Date(until + 1_000), maxInFlight: 1, maxBatch: 1 }, async () => {}).stop();
  }
  await log.close();
  return filled;
}

/** `write` resolves when the batch before is written: one is written while the log takes the next. */
function startRowThread(workerData: RowThreadData) {
  const thread = new Worker(new URL('./row-thread.ts', import.meta.url), { workerData });
  let written: Promise<unknown> = Promise.resolve();
  return {
    async write(batch: RowBatch): Promise<void> {
      await written;
      thread.postMessage(batch);
      written = once(thread, 'message');
    },
    async close(): Promise<void> {
      await written;
      const ended = once(thread, 'exit');
      thread.postMessage('close');
      await ended;
    },
  };
}
