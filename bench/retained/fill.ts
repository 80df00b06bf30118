/**
 * Fills a stopped installation with events, the way production writes them: appended to the ingest topics, consumed by the groups of
 * processing and delivery, recorded by the recorder. Only the work in between is left out: every event is a copy of one that a service
 * really processed, with other ids and times. The clock runs through the days that the events cover.
 */
import { join } from 'node:path';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import pino from 'pino';
import { eventRecordId, eventsTopic } from '../../packages/server/src/event-record.ts';
import { decodeOutcomes, OUTCOMES_TOPIC, outcomeRecord, RECORDER_GROUP } from '../../packages/server/src/outcomes/outcome-log.ts';
import { startRecorder } from '../../packages/server/src/outcomes/recorder.ts';
import { RowWriter } from '../../packages/server/src/outcomes/row-writer.ts';
import { EMBEDDED_PARTITIONS, ingestTopic, PROCESS_GROUP } from '../../packages/server/src/partition.ts';
import type { Clock } from '../../packages/server/src/runtime/clock.ts';
import { createMetrics } from '../../packages/server/src/runtime/metrics.ts';
import { type LmdbLog, openLmdbLog } from '../../packages/server/src/stores/event-log/lmdb.ts';
import type { Delivery, LogRecord } from '../../packages/server/src/stores/event-log/port.ts';
import { embeddedLeases } from '../../packages/server/src/stores/leases/embedded.ts';

export interface Retained {
  dataDir: string;
  pipeline: string;
  integration: string;
  /** The event to copy: its messageId, and the part of its anonymous id that changes. */
  event_id: string;
  visitor: string;
}
const DAYS = 6.5;
const AT_ONCE = 2_000;
const MOST_BEHIND = 20_000;
const TOGETHER = 32;
const VISITORS = 524_287;

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
export async function fill(retained: Retained, { from, to, total, until, atMostMs }: FillPlan): Promise<number> {
  const { dataDir, pipeline, integration } = retained;
  const timeOf = (n: number) => until - DAYS * 86_400_000 * (1 - n / total);
  let time = timeOf(from);
  const clock: Clock = { now: () => time, monotonic: () => time };
  const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 86_400_000, clock });
  const copy = await templatesOf(log, retained);
  const rowWriter = new RowWriter({ databaseUrl: undefined, dataDir }, (reason) => console.error(reason));
  const logger = pino({ level: 'warn' });
  const recorder = startRecorder({ log, leases: embeddedLeases(), rowWriter, logger, metrics: createMetrics(), telemetry: undefined });
  const options = { start: 'beginning', maxInFlight: 1_000, maxBatch: 500 } as const;
  const topics = Array.from({ length: EMBEDDED_PARTITIONS }, (_, partition) => ingestTopic(partition));
  const consumers = [
    ...topics.map((topic) =>
      log.consume(topic, PROCESS_GROUP, { ...options, ordered: true }, async (batch) => {
        await log.ackAll(batch, {
          appends: [{ topic: eventsTopic(pipeline), records: batch.map(copy.event) }],
          derive: ([stored]) => [
            { topic: OUTCOMES_TOPIC, records: together(batch, (delivery, i) => copy.processed(delivery, topic, stored?.positions[i])) },
          ],
        });
      }),
    ),
    log.consume(eventsTopic(pipeline), integration, options, async (batch) => {
      await log.ackAll(batch, { appends: [{ topic: OUTCOMES_TOPIC, records: together(batch, copy.delivered) }] });
    }),
  ];
  const behind = async () => {
    let records = TOGETHER * (await log.lag(OUTCOMES_TOPIC, RECORDER_GROUP)).waiting;
    for (const topic of topics) records += (await log.lag(topic, PROCESS_GROUP)).waiting;
    return records + (await log.lag(eventsTopic(pipeline), integration)).waiting;
  };
  const started = performance.now();
  let filled = from;
  while (filled < to && performance.now() - started < atMostMs) {
    const first = filled;
    filled = Math.min(to, first + AT_ONCE);
    time = timeOf(filled);
    const records = Array.from({ length: filled - first }, (_, i) => copy.raw(first + i, Math.floor(time)));
    await log.append(
      topics.map((topic, partition) => ({ topic, records: records.filter((_, i) => i % EMBEDDED_PARTITIONS === partition) })),
    );
    while ((await behind()) > MOST_BEHIND) await sleep(5);
    if (filled % 100_000 !== 0) continue;
    await log.expire(OUTCOMES_TOPIC, new Date(time - 3_600_000));
    console.log(`${filled} of ${to} events, ${Math.round((filled - from) / ((performance.now() - started) / 1_000))} per second`);
  }
  while ((await behind()) > 0) await sleep(100);
  for (const consumer of consumers) await consumer.stop();
  await recorder.stop();
  await rowWriter.stop();
  await log.close();
  return filled;
}

async function templatesOf(log: LmdbLog, { pipeline, event_id, visitor }: Retained) {
  const id = eventRecordId(pipeline, event_id);
  const texts: string[] = [];
  for (const name of [...(await log.topics('ingest.')), eventsTopic(pipeline)])
    for await (const record of log.read(name, { limit: 100 })) if (record.id === id) texts.push(Buffer.from(record.data).toString('utf8'));
  const outcomes: Outcome[] = [];
  for await (const record of log.read(OUTCOMES_TOPIC, { limit: 1_000 })) outcomes.push(...decodeOutcomes(record));
  const of = <K extends Outcome['kind']>(kind: K) => {
    const found = outcomes.find((each) => each.kind === kind && 'event_id' in each && each.event_id === event_id);
    if (found === undefined) throw new Error(`the template event has no outcome "${kind}"`);
    return found as Extract<Outcome, { kind: K }>;
  };
  const [raw, canonical] = texts;
  if (raw === undefined || canonical === undefined) throw new Error('the template event is not in the log');
  const processed = of('processed');
  const delivered = of('delivered');
  const rewrite = (text: string, messageId: string, at: number) =>
    Buffer.from(
      text
        .replaceAll(event_id, messageId)
        .replaceAll(visitor, visitorOf(messageId))
        .replace(/"received_at":\d+/, `"received_at":${at}`),
    );
  const idOf = ({ record }: Delivery) => record.id.slice(pipeline.length + 1);
  return {
    raw(n: number, at: number): LogRecord {
      const messageId = messageIdOf(n);
      return { id: eventRecordId(pipeline, messageId), data: rewrite(raw, messageId, at) };
    },
    event: (delivery: Delivery): LogRecord => ({
      id: delivery.record.id,
      data: rewrite(canonical, idOf(delivery), Math.floor(delivery.record.time)),
    }),
    processed(delivery: Delivery, topic: string, stored: string | undefined): Outcome {
      const messageId = idOf(delivery);
      const person = visitorOf(messageId);
      const at = Math.floor(delivery.record.time);
      return {
        ...processed,
        at: at + 5,
        received_at: at,
        event_id: messageId,
        anonymous_id: processed.anonymous_id?.replace(visitor, person),
        ...(messageId.endsWith('0') && { user_id: `user-${person}` }),
        raw: { topic, position: delivery.record.position },
        ...(stored !== undefined && { stored }),
      };
    },
    delivered(delivery: Delivery): Outcome {
      const at = Math.floor(delivery.record.time);
      return { ...delivered, at: at + 20, received_at: at, event_id: idOf(delivery) };
    },
  };
}

function together(batch: readonly Delivery[], outcomeOf: (delivery: Delivery, i: number) => Outcome): LogRecord[] {
  const records: LogRecord[] = [];
  for (let i = 0; i < batch.length; i += TOGETHER) {
    const part = batch.slice(i, i + TOGETHER).map((delivery, at) => outcomeOf(delivery, i + at));
    records.push(outcomeRecord(`${part[0]?.kind}:${batch[i]?.record.id}`, part));
  }
  return records;
}

/** Looks random, as a UUID does, and is different for every `n`. */
export function messageIdOf(n: number): string {
  return `msg-${hex(mix(n))}${hex(mix(n ^ 0x5bd1e995))}`;
}
export function visitorOf(messageId: string): string {
  return hex(Number.parseInt(messageId.slice(4, 12), 16) % VISITORS);
}
function mix(n: number): number {
  let h = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
const hex = (n: number) => n.toString(16).padStart(8, '0');
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
