import type { Attempt } from '@firsthand/core/outcome/outcome.ts';
import type { ChainProgress } from '@firsthand/core/vendor/chain.ts';

/** Stored with a record between two attempts, so that a restart loses neither the count nor the progress. */
export interface RetryState {
  v: 1;
  attempts: Attempt[];
  /** The revision that `done` and `progress` belong to: another revision may build other requests. */
  revision: number;
  /** Indexes of the items that the vendor already has, where one event makes several requests. */
  done?: number[];
  /** Items that failed together are sent together again, under the same batch id. */
  batch?: BatchPlace;
  /** Chains: the steps that are done. */
  progress?: ChainProgress;
  /** The vendor took the event as this job, whose result is polled. */
  pending?: PendingJob;
}
export interface PendingJob {
  id: string;
  /** When the vendor accepted it, milliseconds since 1970. */
  since: number;
}
export interface BatchPlace {
  id: string;
  index: number;
  size: number;
}

export function readRetryState(state: unknown): RetryState | undefined {
  return typeof state === 'object' && state !== null && 'v' in state && state.v === 1 ? (state as RetryState) : undefined;
}
