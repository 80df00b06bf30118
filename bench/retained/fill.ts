/**
 * Fills a stopped installation with events through the writers of its stores: records are appended to the log, and rows are written by the
 * recorder's own function, in larger batches than a running service has. Every event is a copy of one that a service really processed and
 * delivered, with other ids and times. The injected clock follows the times of the events.
 */
import { join } from 'node:path';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { eventRecordId, eventsTopic } from '../../packages/server/src/event-record.ts';
import { decodeOutcomes, OUTCOMES_TOPIC } from '../../packages/server/src/outcomes/outcome-log.ts';
import { tally } from '../../packages/server/src/outcomes/tally.ts';
import { EMBEDDED_PARTITIONS, ingestTopic, PROCESS_GROUP } from '../../packages/server/src/partition.ts';
import type { Clock } from '../../packages/server/src/runtime/clock.ts';
import { type LmdbLog, openLmdbLog } from '../../packages/server/src/stores/event-log/lmdb.ts';
import type { LogRecord } from '../../packages/server/src/stores/event-log/port.ts';
import { openSqliteWriter } from '../../packages/server/src/stores/observe/sqlite-writer.ts';
import { OBSERVE_FILE } from '../../packages/server/src/stores/observe/tables.ts';
import { readPosition, writeTally } from '../../packages/server/src/stores/observe/write.ts';

export interface Retained {
  dataDir: string;
  pipeline: string;
  integration: string;
  /** The event to copy: its messageId, and the part of its anonymous id that changes. */
  event_id: string;
  visitor: string;
}
const DAYS = 6.5;
const AT_ONCE = 10_000;
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
  const clockAt = (n: number) => until - DAYS * 86_400_000 * (1 - n / total);
  let time = clockAt(from);
  const clock: Clock = { now: () => time, monotonic: () => time };
  const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 86_400_000, clock });
  const writer = openSqliteWriter(join(dataDir, OBSERVE_FILE));
  const copy = await templatesOf(log, retained);
  const topics = Array.from({ length: EMBEDDED_PARTITIONS }, (_, partition) => ingestTopic(partition));
  const started = performance.now();
  let filled = from;
  while (filled < to && performance.now() - started < atMostMs) {
    const first = filled;
    filled = Math.min(to, first + AT_ONCE);
    time = clockAt(filled);
    const at = Math.floor(time);
    const ids = Array.from({ length: filled - first }, (_, i) => messageIdOf(first + i));
    const parts = topics.map((topic, partition) => ({ topic, ids: ids.filter((_, i) => i % EMBEDDED_PARTITIONS === partition) }));
    const stored = await log.append([
      ...parts.map((part) => ({ topic: part.topic, records: part.ids.map((id) => copy.raw(id, at)) })),
      ...parts.map((part) => ({ topic: eventsTopic(pipeline), records: part.ids.map((id) => copy.event(id, at)) })),
    ]);
    const outcomes = parts.flatMap((part, partition) =>
      part.ids.flatMap((id, i) => [
        copy.processed(id, at, {
          topic: part.topic,
          raw: stored[partition]?.positions[i],
          stored: stored[partition + EMBEDDED_PARTITIONS]?.positions[i],
        }),
        copy.delivered(id, at),
      ]),
    );
    await writeTally(writer, tally(outcomes), await readPosition(writer));
    if (filled % 100_000 === 0)
      console.log(`${filled} of ${to} events, ${Math.round((filled - from) / ((performance.now() - started) / 1_000))} per second`);
  }
  // The groups have settled all of it.
  time = until;
  const groups: [topic: string, group: string][] = [
    ...topics.map((topic): [string, string] => [topic, PROCESS_GROUP]),
    [eventsTopic(pipeline), integration],
  ];
  for (const [topic, group] of groups) {
    await log.remove(topic, group);
    await log.consume(topic, group, { start: new Date(until + 1_000), maxInFlight: 1, maxBatch: 1 }, async () => {}).stop();
  }
  await log.close();
  writer.close();
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
  const rawOf = templateOf(raw, { event_id, visitor });
  const canonicalOf = templateOf(canonical, { event_id, visitor });
  const processed = of('processed');
  const delivered = of('delivered');
  return {
    raw: (id: string, at: number): LogRecord => ({ id: eventRecordId(pipeline, id), data: Buffer.from(rawOf(id, at), 'latin1') }),
    event: (id: string, at: number): LogRecord => ({ id: eventRecordId(pipeline, id), data: Buffer.from(canonicalOf(id, at), 'latin1') }),
    processed(id: string, at: number, place: { topic: string; raw: string | undefined; stored: string | undefined }): Outcome {
      return {
        ...processed,
        at: at + 5,
        received_at: at,
        event_id: id,
        anonymous_id: processed.anonymous_id?.replace(visitor, visitorOf(id)),
        user_id: id.endsWith('0') ? `user-${visitorOf(id)}` : undefined,
        raw: { topic: place.topic, position: place.raw ?? '' },
        ...(place.stored !== undefined && { stored: place.stored }),
      };
    },
    delivered: (id: string, at: number): Outcome => ({ ...delivered, at: at + 20, received_at: at, event_id: id }),
  };
}

/** Cuts a text at the places that differ between copies: putting the pieces together is the whole work per copy. */
function templateOf(text: string, { event_id, visitor }: Pick<Retained, 'event_id' | 'visitor'>) {
  const pieces = text
    .replaceAll(event_id, '\u0000ID\u0000')
    .replaceAll(visitor, '\u0000VISITOR\u0000')
    .replace(/"received_at":\d+/, '"received_at":\u0000RECEIVED\u0000')
    .split('\u0000');
  return (id: string, at: number): string => {
    const person = visitorOf(id);
    let out = '';
    for (const piece of pieces) out += piece === 'ID' ? id : piece === 'VISITOR' ? person : piece === 'RECEIVED' ? at : piece;
    return out;
  };
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
