import { fnv1a } from '@firsthand/core/hash/fnv1a.ts';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Append, EventLog, LogRecord, StoredRecord } from '../stores/event-log/port.ts';

/** The one topic of an embedded log. On a shared log earlier versions wrote to it. */
export const OUTCOMES_TOPIC = 'outcomes';
/** Consumer group of the recorder. */
export const RECORDER_GROUP = 'recorder';
/** Topics of a shared log. As many processes can record at once. */
const PARTS = 8;

/**
 * The topic for outcomes from one source: an ingest partition, an integration. A source always writes to the same topic, so a repeat after a
 * crash is deduplicated, and what it writes together stays together.
 */
export function outcomesTopic(log: Pick<EventLog, 'atomic'>, source: string): string {
  return log.atomic ? OUTCOMES_TOPIC : `${OUTCOMES_TOPIC}.${partOf(source)}`;
}
/** Every topic that may hold outcomes. */
export function outcomesTopics(log: Pick<EventLog, 'atomic'>): string[] {
  return log.atomic ? [OUTCOMES_TOPIC] : [OUTCOMES_TOPIC, ...Array.from({ length: PARTS }, (_, part) => `${OUTCOMES_TOPIC}.${part}`)];
}
/** Every process and version must agree. */
function partOf(source: string): number {
  const hash = fnv1a(source);
  return ((hash ^ (hash >>> 15)) >>> 0) % PARTS;
}

/** One record for outcomes that belong together. The id deduplicates a repeat after a crash. */
export function outcomeAppend(log: Pick<EventLog, 'atomic'>, source: string, id: string, outcomes: Outcome[]): Append {
  return { topic: outcomesTopic(log, source), records: [outcomeRecord(id, outcomes)] };
}
/** Like `outcomeAppend`, for outcomes that are JSON already. */
export function outcomeTextAppend(log: Pick<EventLog, 'atomic'>, source: string, id: string, outcomes: readonly string[]): Append {
  return { topic: outcomesTopic(log, source), records: [{ id, data: Buffer.from(`[${outcomes.join(',')}]`) }] };
}
export function outcomeRecord(id: string, outcomes: Outcome[]): LogRecord {
  return { id, data: Buffer.from(JSON.stringify(outcomes)) };
}

/** Throws on bytes that `outcomeAppend` did not make. */
export function decodeOutcomes({ data }: Pick<StoredRecord, 'data'>): Outcome[] {
  return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')) as Outcome[];
}
