import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Part } from './job.ts';

/** One request to come. Its items share one lane, one configuration and one attempt number. */
export interface Batch {
  compiled: CompiledIntegration;
  vendor: CompiledVendor;
  parts: Part[];
  bytes: number;
  /** 1 on the first attempt. */
  attempt: number;
  /** Set where the request asks for the result of this job. */
  job: string | undefined;
}
interface OpenBatch extends Batch {
  /** On the monotonic clock. */
  due: number;
  /** Item count that completes it: the vendor's limit, or the number of items that failed together. */
  full: number;
}

/** A batch waits in memory with all its events, so larger vendor limits are cut to this. */
export const MAX_BATCH_ITEMS = 10_000;
/** Items of a failed batch come due together. The wait is for members that were settled otherwise in the meantime. */
const GATHER_MS = 1_000;
const NONE: readonly Batch[] = [];

/** Collects items until a batch is full by count or bytes, or its first item has waited for the batch interval. */
export class Batcher {
  readonly #open = new Map<string, OpenBatch>();
  /** No open batch comes due before this. */
  #earliest = Number.POSITIVE_INFINITY;
  #last = { attempt: 0, lane: '', key: '' };

  readonly #now: () => number;

  /** `now`: the monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the batches that are complete with this item. */
  add(part: Part): readonly Batch[] {
    const { job, item } = part;
    const { vendor } = job;
    const attempt = job.attempts.length + 1;
    const limits = vendor.batch;
    if (limits === null) return [{ compiled: job.compiled, vendor, parts: [part], bytes: item.size, attempt, job: job.pending?.id }];
    let complete = NONE;
    const place = job.batch;
    const key = place === undefined ? this.#keyOf(attempt, item.lane) : `${place.id} ${job.pending?.id ?? ''} ${item.lane}`;
    let open = this.#open.get(key);
    // Items of another configuration, or beyond the byte limit, start a new batch.
    if (open && (open.vendor !== vendor || open.bytes + item.size > limits.max_bytes)) {
      complete = [this.#close(key, open)];
      open = undefined;
    }
    if (!open) {
      const wait = place === undefined ? limits.interval_ms : Math.min(GATHER_MS, limits.interval_ms);
      const full = Math.max(1, Math.min(limits.max_items, place?.size ?? MAX_BATCH_ITEMS, MAX_BATCH_ITEMS));
      open = { compiled: job.compiled, vendor, parts: [], bytes: 0, attempt, job: job.pending?.id, due: this.#now() + wait, full };
      this.#open.set(key, open);
      this.#earliest = Math.min(this.#earliest, open.due);
    }
    open.parts.push(part);
    open.bytes += item.size;
    if (open.parts.length >= open.full || open.bytes >= limits.max_bytes) complete = [...complete, this.#close(key, open)];
    return complete;
  }

  /** Removes and returns the batches that have waited long enough. */
  takeDue(now: number): Batch[] {
    const due: Batch[] = [];
    this.#earliest = Number.POSITIVE_INFINITY;
    for (const [key, open] of this.#open) {
      if (open.due <= now) due.push(this.#close(key, open));
      else this.#earliest = Math.min(this.#earliest, open.due);
    }
    return due;
  }
  takeAll(): Batch[] {
    return this.takeDue(Number.POSITIVE_INFINITY);
  }
  /** When to call `takeDue` next; infinity where no batch is open. */
  get nextDue(): number {
    return this.#earliest;
  }

  /** Items that follow each other mostly go to the same batch: a new text for each would have to be hashed again. */
  #keyOf(attempt: number, lane: string): string {
    if (this.#last.attempt !== attempt || this.#last.lane !== lane) this.#last = { attempt, lane, key: `${attempt} ${lane}` };
    return this.#last.key;
  }
  #close(key: string, open: OpenBatch): Batch {
    this.#open.delete(key);
    const { compiled, vendor, parts, bytes, attempt, job } = open;
    // A batch that is sent again keeps the order of its first attempt, and so its id.
    if (parts[0]?.job.batch !== undefined) parts.sort((a, b) => (a.job.batch?.index ?? 0) - (b.job.batch?.index ?? 0));
    return { compiled, vendor, parts, bytes, attempt, job };
  }
}
