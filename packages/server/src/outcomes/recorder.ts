/**
 * Turns the topics of outcomes into traces, counters and the dead-letter index. A lease allows one recorder per topic at a time; several
 * processes share the topics. Rows and log position are written in one transaction, so a redelivered batch is skipped.
 */
import { shareSets } from '../partition-leases.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Consumer, Delivery, EventLog, StoredRecord } from '../stores/event-log/port.ts';
import type { Leases } from '../stores/leases/port.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';
import { outcomesTopicSets, RECORDER_GROUP } from './outcome-log.ts';
import type { RowWriter } from './row-writer.ts';

/**
 * Collect outcomes this long before writing. Rows of one transaction share the pages of the indexes: 1,250 events write 5 KB each, 2,500
 * write 3.5 KB. So a busy recorder collects for longer. Traces may be 2 s late.
 */
const GATHER_MS = 250;
const GATHER_BUSY_MS = 1_000;
/** About 20 events. */
const BUSY_BYTES = 16_384;
/** Records; one may hold many outcomes. */
const MAX_BATCH = 500;
/** Per transaction: more share the pages of an index, and the limit bounds memory. */
const MAX_BYTES = 4 * 1_048_576;

const LEASE_PREFIX = 'recorder.';

export interface RecorderDeps {
  log: EventLog;
  leases: Leases;
  rowWriter: Pick<RowWriter, 'record' | 'position'>;
  logger: Logger;
  metrics: Metrics;
  /** Where spans of events are exported to, if anywhere. */
  telemetry: { addSpans(spans: readonly EncodedSpan[]): void } | undefined;
}

export function startRecorder(deps: RecorderDeps): { stop(): Promise<void> } {
  const { log, rowWriter, logger } = deps;
  const consumers = new Map<string, Consumer>();

  async function write(topic: string, records: StoredRecord[], anew = false): Promise<void> {
    for (const part of parts(records)) {
      const { counted, unreadable, refused, spans } = await rowWriter.record(topic, part, anew);
      count(deps.metrics, counted);
      deps.telemetry?.addSpans(spans);
      if (unreadable.length > 0) logger.error({ topic, positions: unreadable }, 'unreadable outcomes skipped');
      if (refused !== undefined) logger.error({ topic, outcomes: refused }, 'outcomes that the database refuses skipped');
    }
  }

  /**
   * After a restore the rows and the log may be of different moments. Rows newer than the log hold a position that the log has yet to
   * reach: its next outcomes are recorded anew. Rows older than the log lack outcomes that its cursor counts as settled: these are read
   * again.
   */
  async function reconcile(topic: string, first: StoredRecord): Promise<{ anew: boolean }> {
    const written = await rowWriter.position(topic);
    for await (const newest of log.read(topic, { limit: 1, reverse: true }))
      if (written > newest.position) {
        logger.warn({ topic }, 'traces are newer than the event log, as after a restore: recording from its position');
        return { anew: true };
      }
    const missed: StoredRecord[] = [];
    const after = written === '' ? {} : { after: written };
    for await (const record of log.read(topic, { ...after, limit: Number.MAX_SAFE_INTEGER })) {
      if (record.position >= first.position) break;
      if (missed.push(record) === MAX_BATCH) await write(topic, missed.splice(0));
    }
    await write(topic, missed);
    return { anew: false };
  }

  async function record(topic: string, batch: Delivery[], isFirst: boolean): Promise<void> {
    const records = batch.map((delivery) => delivery.record);
    // Only the embedded stores are restored from a backup of both.
    const { anew } = isFirst && log.atomic && records[0] ? await reconcile(topic, records[0]) : { anew: false };
    const bytes = records.reduce((sum, { data }) => sum + data.length, 0);
    await write(topic, records, anew);
    await log.ackAll(batch);
    if (batch.length === MAX_BATCH) return;
    await nextMoment(bytes < BUSY_BYTES ? GATHER_MS : GATHER_BUSY_MS);
  }
  function consume(topic: string): Consumer {
    const how = { ordered: true, readsLate: true, repeats: 'skipped' } as const;
    const options = { start: 'beginning', maxInFlight: MAX_BATCH, maxBatch: MAX_BATCH, ...how } as const;
    let isFirst = true;
    return log.consume(topic, RECORDER_GROUP, options, async (batch) => {
      try {
        await record(topic, batch, isFirst);
        isFirst = false;
      } catch (error) {
        // The log keeps them: traces and counters are late, nothing is lost.
        logger.warn({ err: error }, 'outcomes not recorded, retrying');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        throw error;
      }
    });
  }

  const callbacks = {
    async won(name: string) {
      consumers.set(name, consume(name.slice(LEASE_PREFIX.length)));
    },
    async lost(name: string) {
      const consumer = consumers.get(name);
      consumers.delete(name);
      await consumer?.stop();
    },
  };
  const names = () => outcomesTopicSets(log).map((topics) => topics.map((topic) => LEASE_PREFIX + topic));
  const share = shareSets(deps.leases, names, callbacks);
  return {
    async stop() {
      await share.stop();
      await Promise.all([...consumers.values()].map((consumer) => consumer.stop()));
    },
  };
}

/** The same moment for all topics, so that one transaction takes them all. At most `everyMs` from now. */
function nextMoment(everyMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, everyMs - (performance.now() % everyMs)));
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
