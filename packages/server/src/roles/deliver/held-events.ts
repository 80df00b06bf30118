import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import { MAX_BATCH_ITEMS } from './batcher.ts';

/** Held events stay in memory until they are settled, and mapped ones are parsed: hold only what keeps the vendor busy. */
const MIN_WINDOW = 32;
/** With ordering, events of many users wait in the window behind one that is retried. */
const ORDERED_WINDOW = 1_000;
const MAX_SEVERAL_BATCHES = 2_000;

/** The events that a worker has taken from the log and not settled. The window bounds them: further events stay in the log. */
export class HeldEvents {
  #window = MIN_WINDOW;
  #count = 0;
  #firstAttempts = 0;
  #bytes = 0;

  get window(): number {
    return this.#window;
  }
  fitWindow(vendor: CompiledVendor | undefined): void {
    const items = Math.min(vendor?.batch?.max_items ?? 1, MAX_BATCH_ITEMS);
    // Several batches in flight while the next one fills. Of large ones three: one is sent, one waits for it, one fills. Of files two: one
    // thread encodes them, and the garbage collector's work grows with what is held. A third file took 20 MB more and was no faster.
    const large = items > MAX_SEVERAL_BATCHES ? 2 : 3;
    const batches = Math.max(large * items, Math.min(8 * items, MAX_SEVERAL_BATCHES));
    const least = vendor?.ordering === undefined ? MIN_WINDOW : ORDERED_WINDOW;
    this.#window = Math.max(least, 2 * (vendor?.concurrency ?? 1), batches);
  }

  get empty(): boolean {
    return this.#count === 0;
  }
  /** Whether an event of the pipeline is held that was never tried before. */
  get hasFirstAttempt(): boolean {
    return this.#firstAttempts > 0;
  }
  /** One event may always be held, however large. */
  isFull(byteBudget: () => number): boolean {
    return this.#count >= this.#window || (this.#count > 0 && this.#bytes >= byteBudget());
  }
  add({ record, attempt }: Delivery, replay: boolean): void {
    if (attempt === 1 && !replay) this.#firstAttempts++;
    this.#count++;
    this.#bytes += record.data.length;
  }
  remove({ record, attempt }: Delivery, replay: boolean): void {
    if (attempt === 1 && !replay) this.#firstAttempts--;
    this.#count--;
    this.#bytes -= record.data.length;
  }
}
