import { type Clock, systemClock } from '../../runtime/clock.ts';
import { LmdbLog } from './lmdb/log.ts';
import type { EventLog } from './port.ts';

export interface LmdbLogOptions {
  /** A folder of its own. */
  path: string;
  dedupWindowMs: number;
  clock?: Clock;
  /**
   * The disk failed or does not answer: the process must end at once. Promises of what was being written never settle.
   * Without it the error is thrown uncaught, which ends the process too.
   */
  onFatal?: (error: Error) => void;
  /** A handler of a consumer threw; its batch comes again. */
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
  commitTimeoutMs?: number;
}

/** The embedded log: one LMDB file, one process. */
export async function openLmdbLog(options: LmdbLogOptions): Promise<LmdbLog> {
  return LmdbLog.open({ ...options, clock: options.clock ?? systemClock });
}
export type { EventLog, LmdbLog };
