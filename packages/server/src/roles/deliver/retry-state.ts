import type { Attempt } from '@firsthand/core/outcome/outcome.ts';

/** Stored with a record between two attempts, so that a restart loses neither the count nor the progress. */
export interface RetryState {
  v: 1;
  attempts: Attempt[];
  /** The revision that `done` belongs to: another revision may build other items. */
  revision: number;
  /** Indexes of the items that the vendor already has, where one event makes several requests. */
  done?: number[];
  /** Items that failed together are sent together again, under the same batch id. */
  batch?: BatchPlace;
}
export interface BatchPlace {
  id: string;
  index: number;
  size: number;
}

export function readRetryState(state: unknown): RetryState | undefined {
  return typeof state === 'object' && state !== null && 'v' in state && state.v === 1 ? (state as RetryState) : undefined;
}
