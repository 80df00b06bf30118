import type { Job } from './job.ts';

/**
 * Delivers events of one key (a user, or a lane) one after the other. An event that waits for a retry keeps its place in memory,
 * and the following events of its key wait behind it. The log hands unsettled events out again in order, so a restart keeps the
 * order; the attempts of a waiting event start anew then.
 */
export class KeyOrder {
  /** The first job of a key is the one in delivery. */
  readonly #keys = new Map<string, Job[]>();

  /** True where the job may go now; otherwise `leave` of the one before returns it. */
  enter(key: string, job: Job): boolean {
    const waiting = this.#keys.get(key);
    if (waiting) waiting.push(job);
    else this.#keys.set(key, [job]);
    return waiting === undefined;
  }
  /** The job in delivery is done. Returns the next one of its key. */
  leave(key: string): Job | undefined {
    const waiting = this.#keys.get(key);
    waiting?.shift();
    if (waiting?.length === 0) this.#keys.delete(key);
    return waiting?.[0];
  }
  /** Removes and returns the jobs that wait behind another. */
  takeWaiting(): Job[] {
    return [...this.#keys.values()].flatMap((jobs) => jobs.splice(1));
  }
}

/** Events without a user id are ordered by visitor, and those without either are not ordered. */
export function orderKey(job: Job): string | undefined {
  const { ordering } = job.vendor;
  if (ordering === undefined || job.pending) return undefined;
  if (ordering === 'lane') return job.items[0]?.lane;
  const { user_id, anonymous_id } = job.decoded.event;
  return user_id !== undefined ? `u ${user_id}` : anonymous_id !== undefined ? `a ${anonymous_id}` : undefined;
}
