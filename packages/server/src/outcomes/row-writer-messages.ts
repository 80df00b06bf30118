/** What the recorder and its thread say to each other. */
import type { StoredRecord } from '../stores/event-log/port.ts';
import type { RowAges } from '../stores/observe/sweep.ts';

export type RowStore = { databaseUrl: string | undefined; dataDir: string };

/** Outcome records, packed into one piece of memory that changes hands instead of being copied. */
export interface PackedRecords {
  positions: string[];
  lengths: number[];
  bytes: Uint8Array<ArrayBuffer>;
}
export type RowWriterRequest = { id: number } & ({ kind: 'record'; records: PackedRecords } | { kind: 'sweep'; ages: RowAges });
export interface Recorded {
  /** What each counter has gained, for the metrics. */
  counted: Record<string, number>;
  /** Positions of records that are no outcomes. They are left out: waiting for them would stop every trace for ever. */
  unreadable: string[];
}
export type RowWriterReply = { id: number } & (Recorded | { removed: number } | { error: string });
/** A connection of the thread's pool was lost; the query that needed it has its own answer. */
export type RowWriterNotice = { connection_lost: string };

export function packRecords(records: readonly StoredRecord[]): PackedRecords {
  let size = 0;
  for (const { data } of records) size += data.length;
  const bytes = new Uint8Array(size);
  const lengths: number[] = [];
  let at = 0;
  for (const { data } of records) {
    bytes.set(data, at);
    at += data.length;
    lengths.push(data.length);
  }
  return { positions: records.map((record) => record.position), lengths, bytes };
}
