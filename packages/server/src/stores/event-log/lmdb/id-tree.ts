import type { Store } from './environment.ts';
import { IdFilter } from './id-filter.ts';
import { DIGEST } from './id-table.ts';

const FEWEST_BITS = 21;
/** 16 MB. If the tree outgrows the filter, every lookup reads the tree. */
const MOST_BITS = 27;
/** About two milliseconds. */
const KEYS_AT_ONCE = 2_000;
const KEY = Buffer.alloc(DIGEST);

/**
 * The ids that have left memory, on disk. Nearly every lookup is for a new id, and a tree larger than memory would block on a disk read
 * for each. A Bloom filter in front avoids that. It is built from the keys in small steps, after a start and whenever it is full. Until it
 * is complete, and on a possible match, the tree is read.
 */
export class IdTree {
  readonly #store: Store;
  #filter: IdFilter | undefined;
  #making: { filter: IdFilter; from: Buffer } | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.#make();
  }

  /** The time it was noted. */
  get(digest: string): number | undefined {
    if (this.#filter !== undefined && !this.#filter.mayHold(digest)) return undefined;
    KEY.write(digest, 0, 'latin1');
    const value = this.#store.getBinaryFast(KEY);
    return value === undefined ? undefined : Buffer.from(value.buffer, value.byteOffset, 8).readDoubleBE(0);
  }
  /** Must run inside a transaction. */
  put(digest: Buffer, time: number): void {
    const value = Buffer.allocUnsafe(8);
    value.writeDoubleBE(time, 0);
    this.#store.put(digest, value);
    this.#filter?.add(digest);
    this.#making?.filter.add(digest);
  }
  /** Must run inside a transaction. The filter keeps the id until it is rebuilt. */
  remove(digest: string): void {
    KEY.write(digest, 0, 'latin1');
    this.#store.remove(KEY);
  }

  /** Builds the filter in small steps. Call periodically, and again soon while it returns true: there is more to do. */
  tend(): boolean {
    if (this.#making === undefined && (this.#filter === undefined || this.#filter.full)) this.#make();
    if (this.#making === undefined) return false;
    const { filter, from } = this.#making;
    let seen = 0;
    for (const key of this.#store.getKeys({ start: from, limit: KEYS_AT_ONCE })) {
      filter.add(key);
      this.#making.from = Buffer.from(key);
      seen++;
    }
    if (seen === KEYS_AT_ONCE) return true;
    this.#filter = filter;
    this.#making = undefined;
    return false;
  }

  #make(): void {
    const { entryCount } = this.#store.getStats() as { entryCount: number };
    const bits = Math.min(MOST_BITS, Math.max(FEWEST_BITS, Math.ceil(Math.log2(entryCount * 16))));
    if (entryCount * 8 > 2 ** MOST_BITS) this.#filter = undefined;
    else if (entryCount === 0) this.#filter = new IdFilter(bits);
    else this.#making = { filter: new IdFilter(bits), from: Buffer.alloc(0) };
  }
}
