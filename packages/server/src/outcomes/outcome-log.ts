import { fnv1a } from '@firsthand/core/hash/fnv1a.ts';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { ingestPartitions } from '../partition.ts';
import type { Append, EventLog, LogRecord, StoredRecord } from '../stores/event-log/port.ts';

/** The one topic of an embedded log. On a shared log earlier versions wrote to it. */
export const OUTCOMES_TOPIC = 'outcomes';
/** Consumer group of the recorder. */
export const RECORDER_GROUP = 'recorder';
/** Topics of a shared log. As many processes can record at once. */
const FEWEST_PARTS = 8;
const MOST_PARTS = 64;

/**
 * The topic for outcomes from one source: an ingest partition, a group that delivers. Between two changes of their number a source always
 * writes to the same topic, so a repeat after a crash is deduplicated, and what it writes together stays together.
 */
export function outcomesTopic(log: Pick<EventLog, 'atomic'>, source: string, partitions = ingestPartitions): string {
  return log.atomic ? OUTCOMES_TOPIC : partTopic(partOf(source, partsOf(partitions.most)));
}
/** Every topic that may hold outcomes, in sets. Processes share each set for itself, so that a further one moves no lease. */
export function outcomesTopicSets(log: Pick<EventLog, 'atomic'>, partitions = ingestPartitions): string[][] {
  if (log.atomic) return [[OUTCOMES_TOPIC]];
  const topics = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => partTopic(from + i));
  const sets = [[OUTCOMES_TOPIC, ...topics(0, FEWEST_PARTS)]];
  for (let parts = FEWEST_PARTS; parts < partsOf(partitions.most); parts *= 2) sets.push(topics(parts, 2 * parts));
  return sets;
}
/** Grows with the ingest partitions, of which two share a topic. */
function partsOf(partitions: number): number {
  let parts = FEWEST_PARTS;
  while (4 * parts <= partitions && parts < MOST_PARTS) parts *= 2;
  return parts;
}
function partTopic(part: number): string {
  return `${OUTCOMES_TOPIC}.${part}`;
}
/** Every process and version must agree. */
function partOf(source: string, parts: number): number {
  const hash = fnv1a(source);
  return ((hash ^ (hash >>> 15)) >>> 0) % parts;
}

/** One record for outcomes that belong together. The id deduplicates a repeat after a crash. */
export function outcomeAppend(log: Pick<EventLog, 'atomic'>, source: string, id: string, outcomes: Outcome[]): Append {
  return { topic: outcomesTopic(log, source), records: [outcomeRecord(id, outcomes)] };
}
/** Like `outcomeAppend`, for outcomes that are JSON already, with commas between them. */
export function outcomeTextAppend(log: Pick<EventLog, 'atomic'>, source: string, id: string, outcomes: string): Append {
  return outcomeBytesAppend(log, source, id, Buffer.from(`[${outcomes}]`));
}
/** Like `outcomeAppend`, for outcomes that are already encoded as a JSON list. */
export function outcomeBytesAppend(log: Pick<EventLog, 'atomic'>, source: string, id: string, data: Uint8Array): Append {
  return { topic: outcomesTopic(log, source), records: [{ id, data }] };
}
export function outcomeRecord(id: string, outcomes: Outcome[]): LogRecord {
  return { id, data: Buffer.from(JSON.stringify(outcomes)) };
}

/** Throws on bytes that `outcomeAppend` did not make. */
export function decodeOutcomes({ data }: Pick<StoredRecord, 'data'>): Outcome[] {
  return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')) as Outcome[];
}
