import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import { MAX_BATCH_ITEMS } from './batcher.ts';

/** Held events are parsed and mapped, and stay in memory until they are settled: hold only what keeps the vendor busy. */
const MIN_WINDOW = 32;
/** With ordering, events of many users wait in the window behind one that is retried. */
const ORDERED_WINDOW = 1_000;
const MAX_SEVERAL_BATCHES = 2_000;

/** The events that a worker has taken from the log and not settled. The window bounds them: further events stay in the log. */
export class HeldEvents {
  #window = MIN_WINDOW;
  #count = 0;
  #bytes = 0;

  get window(): number {
    return this.#window;
  }
  fitWindow(vendor: CompiledVendor | undefined): void {
    const items = Math.min(vendor?.batch?.max_items ?? 1, MAX_BATCH_ITEMS);
    // Several batches in flight while the next one fills; of very large ones two.
    const batches = Math.max(2 * items, Math.min(8 * items, MAX_SEVERAL_BATCHES));
    const least = vendor?.ordering === undefined ? MIN_WINDOW : ORDERED_WINDOW;
    this.#window = Math.max(least, 2 * (vendor?.concurrency ?? 1), batches);
  }

  get empty(): boolean {
    return this.#count === 0;
  }
  /** One event may always be held, however large. */
  isFull(byteBudget: () => number): boolean {
    return this.#count >= this.#window || (this.#count > 0 && this.#bytes >= byteBudget());
  }
  add({ record }: Delivery): void {
    this.#count++;
    this.#bytes += record.data.length;
  }
  remove({ record }: Delivery): void {
    this.#count--;
    this.#bytes -= record.data.length;
  }
}
