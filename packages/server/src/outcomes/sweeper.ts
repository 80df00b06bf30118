/**
 * Deletes expired data once a minute: events and traces after EVENT_RETENTION, dead letters after DEAD_LETTER_RETENTION, counters
 * after 90 days. Records that a consumer group has not settled yet stay.
 */
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import { kyselyWriter } from '../stores/observe/kysely-writer.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';
import { hasAgedRows } from '../stores/observe/sweep.ts';
import { OUTCOMES_TOPIC } from './outcome-log.ts';
import type { RowWriter } from './row-writer.ts';

const EVERY_MS = 60_000;
const COUNTERS_KEPT_MS = 90 * 86_400_000;
const OUTCOMES_KEPT_MS = 3_600_000;

export interface SweeperDeps {
  log: EventLog;
  observe: ObserveDb;
  rowWriter: Pick<RowWriter, 'sweep'>;
  clock: Clock;
  logger: Logger;
  settings: Pick<Settings, 'eventRetentionMs' | 'deadLetterRetentionMs'>;
}

export async function sweep({ log, observe, rowWriter, clock, settings }: SweeperDeps): Promise<{ records: number; rows: number }> {
  const now = clock.now();
  let records = 0;
  const expire = async (prefix: string, keptMs: number) => {
    for (const topic of await log.topics(prefix)) records += await log.expire(topic, new Date(now - keptMs));
  };
  await expire('ingest.', settings.eventRetentionMs);
  await expire('events.', settings.eventRetentionMs);
  await expire('replay.', settings.eventRetentionMs);
  await expire('dlq-', settings.deadLetterRetentionMs);
  await expire(OUTCOMES_TOPIC, OUTCOMES_KEPT_MS);

  const ages = {
    traces: now - settings.eventRetentionMs,
    counters: now - COUNTERS_KEPT_MS,
    deadLetters: now,
  };
  let rows = 0;
  if (await hasAgedRows(kyselyWriter(observe), ages))
    for (let removed = 1; removed > 0; rows += removed) removed = await rowWriter.sweep(ages);
  return { records, rows };
}

export function startSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running
      .then(() => sweep(deps))
      .then(
        ({ records, rows }) => records + rows > 0 && deps.logger.info({ records, rows }, 'expired records removed'),
        (error: unknown) => deps.logger.warn({ err: error }, 'removing expired records failed, retrying in a minute'),
      )
      .then(() => undefined);
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
