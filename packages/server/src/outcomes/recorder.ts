/**
 * Turns the topic `outcomes` into traces, counters and the dead-letter index. A lease allows one recorder at a time. Rows and log
 * position are written in one transaction, so a redelivered batch is skipped.
 */
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Consumer, Delivery, EventLog, StoredRecord } from '../stores/event-log/port.ts';
import type { Leases } from '../stores/leases/port.ts';
import { decodeOutcomes, OUTCOMES_TOPIC, RECORDER_GROUP } from './outcome-log.ts';
import type { RowWriter } from './row-writer.ts';

/** Collect outcomes this long before writing: a busy second becomes a few statements. Traces may be 2 s late. */
const GATHER_MS = 250;
/** Records; one may hold many outcomes. */
const MAX_BATCH = 500;
/** Per transaction: more share the pages of an index, and the limit bounds memory. */
const MAX_BYTES = 4 * 1_048_576;

export interface RecorderDeps {
  log: EventLog;
  leases: Leases;
  rowWriter: Pick<RowWriter, 'record'>;
  logger: Logger;
  metrics: Metrics;
  /** Where outcomes are exported to, if anywhere. */
  telemetry: { observe(outcomes: Iterable<Outcome>): void } | undefined;
}

export function startRecorder(deps: RecorderDeps): { stop(): Promise<void> } {
  const { log, rowWriter, logger } = deps;
  let consumer: Consumer | undefined;

  async function record(batch: Delivery[]): Promise<void> {
    for (const part of parts(batch.map((delivery) => delivery.record))) {
      const { counted, unreadable } = await rowWriter.record(part);
      count(deps.metrics, counted);
      if (deps.telemetry) {
        const readable = part.filter(({ position }) => !unreadable.includes(position));
        deps.telemetry.observe(readable.flatMap(decodeOutcomes));
      }
      if (unreadable.length > 0) logger.error({ topic: OUTCOMES_TOPIC, positions: unreadable }, 'unreadable outcomes skipped');
    }
    await log.ackAll(batch);
    if (batch.length < MAX_BATCH) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  }

  const share = deps.leases.share(['recorder'], {
    async won() {
      consumer = log.consume(
        OUTCOMES_TOPIC,
        RECORDER_GROUP,
        { start: 'beginning', maxInFlight: MAX_BATCH, maxBatch: MAX_BATCH, ordered: true },
        async (batch) => {
          try {
            await record(batch);
          } catch (error) {
            // The log keeps them: traces and counters are late, nothing is lost.
            logger.warn({ err: error }, 'outcomes not recorded, retrying');
            await new Promise((resolve) => setTimeout(resolve, 1_000));
            throw error;
          }
        },
      );
    },
    async lost() {
      await consumer?.stop();
      consumer = undefined;
    },
  });
  return {
    async stop() {
      await share.stop();
      await consumer?.stop();
    },
  };
}

function* parts(records: StoredRecord[]): Iterable<StoredRecord[]> {
  let from = 0;
  let bytes = 0;
  for (const [i, { data }] of records.entries()) {
    bytes += data.length;
    if (bytes < MAX_BYTES && i < records.length - 1) continue;
    yield records.slice(from, i + 1);
    from = i + 1;
    bytes = 0;
  }
}

function count(metrics: Metrics, counted: Record<string, number>): void {
  for (const [counter, n] of Object.entries(counted)) {
    const [kind, detail] = split(counter);
    if (kind === 'dropped') metrics.dropped.inc({ reason: detail }, n);
    else if (kind === 'rejected')
      continue; // counted by ingest itself
    else metrics.events.inc({ kind }, n);
  }
}
/** `dropped:missing_required:value` counts as `missing_required`: metric labels must have few values. */
function split(counter: string): [kind: string, detail: string] {
  const [kind = '', detail = ''] = counter.split(':', 2);
  return [kind, detail];
}
