/**
 * Turns the topic `outcomes` into traces, counters and the dead-letter index. One recorder at a time (a lease); the
 * position it has written stands in the same transaction as the rows, so a batch that comes again is skipped.
 */
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Consumer, Delivery, EventLog } from '../stores/event-log/port.ts';
import type { Leases } from '../stores/leases/port.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';
import { readPosition, writeTally } from '../stores/observe/write.ts';
import { decodeOutcomes, OUTCOMES_TOPIC } from './outcome-log.ts';
import { type Tally, tally } from './tally.ts';

const GROUP = 'recorder';
/** Rows are gathered this long, so that a busy second is a few statements and not thousands. Traces may be 2 s old. */
const GATHER_MS = 250;
const MAX_BATCH = 2_000;

export interface RecorderDeps {
  log: EventLog;
  leases: Leases;
  observe: ObserveDb;
  logger: Logger;
  metrics: Metrics;
}

export function startRecorder(deps: RecorderDeps): { stop(): Promise<void> } {
  const { log, observe, logger } = deps;
  let consumer: Consumer | undefined;

  async function record(batch: Delivery[]): Promise<void> {
    const written = await readPosition(observe);
    const fresh = batch.filter((delivery) => delivery.record.position > written);
    if (fresh.length > 0) {
      const rows = tally(fresh.flatMap((delivery) => decodeOutcomes(delivery.record)));
      await writeTally(observe, rows, fresh.at(-1)!.record.position);
      count(deps.metrics, rows);
    }
    await log.ackAll(batch);
    if (batch.length < MAX_BATCH) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  }

  const share = deps.leases.share(['recorder'], {
    async won() {
      consumer = log.consume(
        OUTCOMES_TOPIC,
        GROUP,
        { start: 'beginning', maxInFlight: MAX_BATCH, maxBatch: MAX_BATCH, ordered: true },
        async (batch) => {
          try {
            await record(batch);
          } catch (error) {
            // The log keeps them: traces and counters are late, nothing is lost.
            logger.warn({ err: error }, 'outcomes could not be recorded; trying again');
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

function count(metrics: Metrics, rows: Tally): void {
  for (const { counter, n } of rows.counters) {
    const [kind, detail] = split(counter);
    if (kind === 'dropped') metrics.dropped.inc({ reason: detail }, n);
    else if (kind === 'rejected') metrics.rejected.inc({ code: detail }, n);
    else if (kind !== 'latency') metrics.events.inc({ kind }, n);
  }
}
/** `dropped:missing_required:value` is counted under `missing_required`: label values must stay few. */
function split(counter: string): [kind: string, detail: string] {
  const [kind, detail] = counter.split(':', 2);
  return [kind!, detail ?? ''];
}
