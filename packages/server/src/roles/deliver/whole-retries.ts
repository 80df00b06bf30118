/** Sealed batches that wait for their next attempt. Such a batch stays together: it waits in memory and is sent again as it was. */
import type { Batch } from './batcher.ts';
import type { Conclusion } from './conclude.ts';
import { type Job, nextAttempt } from './job.ts';
import type { Settlement } from './settlement.ts';

export class WholeRetries {
  readonly #timers = new Map<Batch, NodeJS.Timeout>();
  readonly #send: (batch: Batch) => void;

  constructor(send: (batch: Batch) => void) {
    this.#send = send;
  }

  add(batch: Batch, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(batch);
      this.#send(batch);
    }, delayMs);
    this.#timers.set(batch, timer);
  }
  takeAll(): Batch[] {
    const batches = [...this.#timers.keys()];
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    return batches;
  }
}

export interface WholeRetry {
  /** The failed attempt of each event. */
  failed: { held: Job; settlement: Extract<Settlement, { kind: 'retry' }> }[];
  next: Batch;
  delayMs: number;
}
/** The next attempt at a batch whose events are all to be sent again. */
export function retryWhole(batch: Batch, settled: Conclusion['settled']): WholeRetry {
  const failed: WholeRetry['failed'] = [];
  const jobs = new Map<Job, Job>();
  for (const { job, settlement } of settled) {
    if (settlement.kind !== 'retry') continue;
    failed.push({ held: job, settlement });
    jobs.set(job, { ...nextAttempt(job, settlement.state), open: 1 });
  }
  const parts = batch.parts.map((part) => ({ ...part, job: jobs.get(part.job) ?? part.job }));
  return { failed, next: { ...batch, parts, attempt: batch.attempt + 1 }, delayMs: failed[0]?.settlement.delay_ms ?? 0 };
}
