/** Messages between `RowWriter` and its thread. */
import type { SentError } from '../runtime/sent-error.ts';
import type { StoredRecord } from '../stores/event-log/port.ts';
import type { ExpiringTrace, RowAges, Swept } from '../stores/observe/sweep.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';

export type RowStore = { databaseUrl: string | undefined; dataDir: string };
export interface RowWriterSettings extends RowStore {
  /** Share of events with OpenTelemetry spans. Undefined: nothing is exported. */
  spanRatio: number | undefined;
}

/** Outcome records, one after the other in one buffer, which is transferred instead of copied. */
export interface PackedRecords {
  entries: { position: string; length: number }[];
  bytes: Uint8Array<ArrayBuffer>;
}
export type RowWriterRequest = { id: number } & (
  | { kind: 'record'; topic: string; records: PackedRecords; anew: boolean }
  | { kind: 'position'; topic: string }
  | { kind: 'letters'; events: { pipeline_id: string; event_id: string }[] }
  | { kind: 'sweep'; ages: RowAges; queued: readonly ExpiringTrace[] }
);
export interface Recorded {
  /** Increments of the counters, for the metrics. */
  counted: Record<string, number>;
  /** Positions of records that do not parse. They are skipped: retrying them would block all traces for good. */
  unreadable: string[];
  /** Outcomes that the database refuses for what is in them. They are skipped for the same reason. */
  refused?: { position: string; event_id: string | undefined; reason: string }[];
  /** Of the outcomes that are new. */
  spans: EncodedSpan[];
}
export type RowWriterReply = { id: number } & (Recorded | Swept | { position: string } | { letters: number } | { error: SentError });
/** The thread's pool lost a connection. The query that used it reports its own error. */
export type RowWriterNotice = { connection_lost: SentError };

export function packRecords(records: readonly StoredRecord[]): PackedRecords {
  let size = 0;
  for (const { data } of records) size += data.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const { data } of records) {
    bytes.set(data, at);
    at += data.length;
  }
  return { entries: records.map(({ position, data }) => ({ position, length: data.length })), bytes };
}
