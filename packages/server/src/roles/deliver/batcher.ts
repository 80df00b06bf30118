import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Part } from './job.ts';

/** What goes out as one request. Its items are of one lane, one configuration and one try. */
export interface Batch {
  compiled: CompiledIntegration;
  vendor: CompiledVendor;
  parts: Part[];
  bytes: number;
  /** 1 on the first try. */
  attempt: number;
}
interface Open extends Batch {
  timer: NodeJS.Timeout;
  /** How many make it complete: the batch's limit, or as many as failed together. */
  full: number;
}

/** A batch waits in memory with all its events: larger ones than this are sent in pieces. */
export const MAX_BATCH_ITEMS = 10_000;
/** The members of a failed batch come due together; this is for those that were settled otherwise meanwhile. */
const GATHER_MS = 1_000;

/** Collects items until a batch is full by count or bytes, or its first item has waited long enough. */
export class Batcher {
  readonly #open = new Map<string, Open>();
  readonly #ready: (batch: Batch) => void;

  constructor(ready: (batch: Batch) => void) {
    this.#ready = ready;
  }

  add(part: Part, vendor: CompiledVendor): void {
    const { job, item } = part;
    const attempt = job.attempts.length + 1;
    const limits = vendor.batch;
    if (limits === null) {
      this.#ready({ compiled: job.compiled, vendor, parts: [part], bytes: item.size, attempt });
      return;
    }
    const place = job.batch;
    const key = place === undefined ? `${attempt} ${item.lane}` : `${place.id} ${item.lane}`;
    let open = this.#open.get(key);
    // A batch of the former configuration is not mixed with the new one's items, nor filled beyond its bytes.
    if (open && (open.vendor !== vendor || open.bytes + item.size > limits.max_bytes)) {
      this.#close(key, open);
      open = undefined;
    }
    if (!open) {
      const wait = place === undefined ? limits.interval_ms : Math.min(GATHER_MS, limits.interval_ms);
      const full = Math.max(1, Math.min(limits.max_items, place?.size ?? MAX_BATCH_ITEMS, MAX_BATCH_ITEMS));
      const timer = setTimeout(() => {
        const due = this.#open.get(key);
        if (due) this.#close(key, due);
      }, wait);
      open = { compiled: job.compiled, vendor, parts: [], bytes: 0, attempt, timer, full };
      this.#open.set(key, open);
    }
    open.parts.push(part);
    open.bytes += item.size;
    if (open.parts.length >= open.full || open.bytes >= limits.max_bytes) this.#close(key, open);
  }

  flush(): void {
    for (const [key, open] of this.#open) this.#close(key, open);
  }
  /** Gives up what is open without sending it. */
  clear(): Part[] {
    const parts: Part[] = [];
    for (const open of this.#open.values()) {
      clearTimeout(open.timer);
      parts.push(...open.parts);
    }
    this.#open.clear();
    return parts;
  }

  #close(key: string, open: Open): void {
    clearTimeout(open.timer);
    this.#open.delete(key);
    if (open.parts[0]!.job.batch !== undefined) open.parts.sort((a, b) => (a.job.batch?.index ?? 0) - (b.job.batch?.index ?? 0));
    this.#ready(open);
  }
}
