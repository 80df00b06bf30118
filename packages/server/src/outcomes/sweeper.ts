/**
 * Deletes expired data once a minute: events and traces after EVENT_RETENTION or the retention of their pipeline, dead letters after
 * DEAD_LETTER_RETENTION, counters after 90 days. Records that a consumer group has not settled yet stay.
 */
import type { Settings } from '../config.ts';
import { eventRecordId, eventsTopic } from '../event-record.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Snapshot, SnapshotSource } from '../snapshot/types.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { ExpiringTrace, PipelineAge, RowAges } from '../stores/observe/sweep.ts';
import { outageOf } from '../stores/outages.ts';
import { ERASURES_TOPIC, erasureAppends, placesByTopic } from './erasures.ts';
import { guardAgainstJumps } from './jump-guard.ts';
import { OUTCOMES_TOPIC } from './outcome-log.ts';
import type { RowWriter } from './row-writer.ts';

const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
const COUNTERS_KEPT_MS = 90 * 86_400_000;
const OUTCOMES_KEPT_MS = 3_600_000;
/** Traces may stay this much longer than their retention, or a tenth of it. */
const MOST_GRACE_MS = 3_600_000;

export interface SweeperDeps {
  log: EventLog;
  snapshots: Pick<SnapshotSource, 'current'>;
  rowWriter: Pick<RowWriter, 'sweep'>;
  clock: Clock;
  logger: Logger;
  settings: Pick<Settings, 'eventRetentionMs' | 'deadLetterRetentionMs'>;
}

export async function sweep({
  log,
  snapshots,
  rowWriter,
  clock,
  settings,
}: SweeperDeps): Promise<{ records: number; rows: number; adopted: number }> {
  const now = clock.now();
  let records = 0;
  /** One topic that cannot be read must not stop the retention of all. */
  const failures: unknown[] = [];
  const own = pipelineAges(snapshots.current(), now);
  const cutOffs = new Map(own.map(({ pipeline_id, before }) => [eventsTopic(pipeline_id), before]));
  const expire = async (prefix: string, keptMs: number) => {
    for (const topic of await log.topics(prefix)) {
      try {
        records += await log.expire(topic, new Date(cutOffs.get(topic) ?? now - keptMs));
      } catch (error) {
        if (outageOf(error as Error) !== undefined) throw error;
        failures.push(new Error(`the topic ${topic} does not expire`, { cause: error }));
      }
    }
  };
  await expire('ingest.', settings.eventRetentionMs);
  await expire('events.', settings.eventRetentionMs);
  await expire('replay.', settings.eventRetentionMs);
  await expire('dlq-', settings.deadLetterRetentionMs);
  await expire(OUTCOMES_TOPIC, OUTCOMES_KEPT_MS);
  await expire(ERASURES_TOPIC, settings.eventRetentionMs);

  const ages: RowAges = {
    traces: now - settings.eventRetentionMs,
    counters: now - COUNTERS_KEPT_MS,
    deadLetters: now,
    pipelines: own,
    graceMs: Math.min(MOST_GRACE_MS, settings.eventRetentionMs / 10),
  };
  let [rows, adopted] = [0, 0];
  let expiring: ExpiringTrace[] = [];
  for (let more = true; more; ) {
    const swept = await rowWriter.sweep(ages, expiring);
    rows += swept.removed;
    adopted += swept.adopted;
    expiring = swept.expiring;
    await removeRawRecords(log, expiring);
    more = swept.removed + swept.adopted + expiring.length > 0;
  }
  if (failures.length > 0) throw failures[0];
  return { records, rows, adopted };
}

/**
 * The ingest topics are shared by all pipelines and expire by EVENT_RETENTION. A shorter retention removes single records. The eraser does
 * it: it tries those again that are not settled yet, and leaves records of other events alone.
 *
 * Call before the traces are removed, because only they say where the records are. A crash in between queues them again, which is harmless.
 */
async function removeRawRecords(log: EventLog, traces: readonly ExpiringTrace[]): Promise<void> {
  const raw = traces.map(({ pipeline_id, event_id, raw_topic, raw_position }) => ({
    topic: raw_topic,
    position: raw_position,
    record: eventRecordId(pipeline_id, event_id),
  }));
  const appends = erasureAppends({ places: placesByTopic(raw), ids: [] });
  if (appends.length > 0) await log.append(appends);
}

function pipelineAges({ pipelines }: Snapshot, now: number): PipelineAge[] {
  return [...pipelines.values()].flatMap(({ pipeline: { id, org_id, retention_days } }) =>
    retention_days === null ? [] : [{ org_id, pipeline_id: id, before: now - retention_days * DAY_MS }],
  );
}

export function startSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const hasJumped = guardAgainstJumps(deps.clock);
  const timer = setInterval(() => {
    if (hasJumped()) return deps.logger.warn('wall clock jumped ahead, nothing expires until it has held for an hour');
    running = running
      .then(() => sweep(deps))
      .then(
        ({ records, rows, adopted }) => {
          if (records + rows > 0) deps.logger.info({ records, rows }, 'expired records removed');
          if (adopted > 0) deps.logger.info({ rows: adopted }, 'traces of an earlier version moved to segments');
        },
        (error: unknown) => deps.logger.warn({ err: error }, 'removing expired records failed, retrying in a minute'),
      );
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
