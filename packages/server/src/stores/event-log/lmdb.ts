import { type Clock, systemClock } from '../../runtime/clock.ts';
import { IngestLog, type IngestLogSettings } from './lmdb/ingest-log.ts';
import type { Part } from './lmdb/known-ids.ts';
import { LmdbLog } from './lmdb/log.ts';
import type { EventLog } from './port.ts';

export interface LmdbLogOptions {
  /** A directory used by nothing else. */
  path: string;
  dedupWindowMs: number;
  clock?: Clock;
  /**
   * The disk failed or does not respond: the process must exit at once. Promises of pending writes never settle. Without this callback the
   * error is thrown uncaught, which ends the process too.
   */
  onFatal?: (error: Error) => void;
  /** A consumer's handler threw; its batch is delivered again. */
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
  commitTimeoutMs?: number;
  /** `others`: a log of `openIngestLog` in another thread appends to the topics of ingest. */
  part?: Part;
}

/** The embedded event log: one LMDB file, used by one process. */
export async function openLmdbLog(options: LmdbLogOptions): Promise<LmdbLog> {
  return LmdbLog.open({ ...options, clock: options.clock ?? systemClock });
}

/** The part of the embedded log that ingest appends to, for a thread of its own. */
export function openIngestLog(settings: IngestLogSettings): Promise<IngestLog> {
  return IngestLog.open(settings);
}
export type { EventLog, IngestLog, LmdbLog };
