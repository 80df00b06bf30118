import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Append, LogRecord, StoredRecord } from '../stores/event-log/port.ts';

export const OUTCOMES_TOPIC = 'outcomes';
/** Consumer group of the recorder. */
export const RECORDER_GROUP = 'recorder';

/** One record for outcomes that belong together. The id deduplicates a repeat after a crash. */
export function outcomeAppend(id: string, outcomes: Outcome[]): Append {
  return { topic: OUTCOMES_TOPIC, records: [outcomeRecord(id, outcomes)] };
}
export function outcomeRecord(id: string, outcomes: Outcome[]): LogRecord {
  return { id, data: Buffer.from(JSON.stringify(outcomes)) };
}

/** Throws on bytes that `outcomeAppend` did not make. */
export function decodeOutcomes({ data }: Pick<StoredRecord, 'data'>): Outcome[] {
  return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')) as Outcome[];
}
