import { visitorOf } from '@firsthand/core/event/canonical.ts';
import type { Job } from './job.ts';

/**
 * Delivers events of one key (a user, a visitor or a lane) one after the other. An event that waits for a retry keeps its place in memory,
 * and the following events of its key wait behind it. The log redelivers unsettled events in order, so a restart keeps the order;
 * the attempts of a waiting event start over then.
 */
export class KeyOrder {
  /** The first job of a key is the one in delivery. */
  readonly #keys = new Map<string, Job[]>();
  /** Jobs in delivery that wait for their next attempt. */
  readonly #retries = new Map<Job, NodeJS.Timeout>();

  /** True if the job may be sent now. Otherwise `leave` of its predecessor returns it. */
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
  /** Calls `launch` with the job after the delay. The job keeps its place meanwhile. */
  retryIn(delayMs: number, job: Job, launch: (job: Job) => void): void {
    const timer = setTimeout(() => {
      this.#retries.delete(job);
      launch(job);
    }, delayMs);
    this.#retries.set(job, timer);
  }
  /** Removes and returns the jobs that wait behind another, or for a retry. */
  takeWaiting(): Job[] {
    const behind = [...this.#keys.values()].flatMap((jobs) => jobs.splice(1));
    const retries = [...this.#retries.keys()];
    for (const timer of this.#retries.values()) clearTimeout(timer);
    for (const job of retries) this.leave(job.order_key ?? '');
    this.#retries.clear();
    return [...behind, ...retries];
  }
}

/** Events without a user id are ordered by visitor, and those without either are not ordered. */
export function orderKey(job: Job): string | undefined {
  const { ordering } = job.vendor;
  if (ordering === undefined || job.pending) return undefined;
  if (ordering === 'lane') return job.items[0]?.lane;
  if (ordering === 'visitor') return visitorOf(job.decoded.head);
  const { user_id, anonymous_id } = job.decoded.head;
  return user_id !== undefined ? `u ${user_id}` : anonymous_id !== undefined ? `a ${anonymous_id}` : undefined;
}
