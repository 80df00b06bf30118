import type { Store } from './environment.ts';
import { IdFilter } from './id-filter.ts';
import type { SavedFilter } from './id-filter-file.ts';
import { DIGEST } from './id-table.ts';
import { journalKey, readSeq } from './keys.ts';

const FEWEST_BITS = 21;
/** 64 MB, for 67 million ids. If the tree outgrows the filter, every lookup reads the tree. */
const MOST_BITS = 29;
/** About two milliseconds. */
const IDS_AT_ONCE = 10_000;
/** An entry of the journal costs as much as this many ids. */
const ENTRY_COST = 10;
/** A journal entry is a time and the digests of a commit. */
const ENTRY_HEAD = 8;
/** A key is the end of a bucket (milliseconds since 1970, 6 bytes) and a digest. */
const END = 6;
const KEY = Buffer.alloc(END + DIGEST);

/**
 * The ids that have left memory, on disk, in buckets by the time they were noted. A bucket is small enough that the ids which move there
 * together share its pages, and it is removed as a whole, in key order. In one tree of all ids every id would change a page of its own,
 * twice: at ten million retained events that left 50 appends a second.
 *
 * Nearly every lookup is for a new id, and a tree larger than memory would block on a disk read for each. A Bloom filter in front avoids
 * that. A process leaves it to the next (`id-filter-file.ts`), which adds the ids of the entries since then; without one it is built in small
 * steps, as it is whenever it is full. Until it is complete, and on a possible match, the buckets are read. It is built from the journal, which
 * has every id of the window in few large values: the keys of the tree take five times the CPU.
 */
export class IdTree {
  readonly #store: Store;
  readonly #journal: Store;
  readonly #bucketMs: number;
  /** Ends of the buckets that hold ids, newest first. */
  #ends: number[] = [];
  #filter: IdFilter | undefined;
  #making: { filter: IdFilter; nextEntry: number } | undefined;

  /**
   * Buckets of different widths may stand side by side. `journal` must have every id that was put and is inside the window. `saved` has those
   * of its entries up to a certain one.
   */
  constructor(store: Store, journal: Store, bucketMs: number, saved?: SavedFilter) {
    this.#store = store;
    this.#journal = journal;
    this.#bucketMs = bucketMs;
    for (let end: number | undefined = 0; end !== undefined; ) {
      const from = Buffer.alloc(END);
      from.writeUIntBE(end + 1, 0, END);
      end = undefined;
      for (const key of store.getKeys({ start: from, limit: 1 })) this.#ends.unshift((end = key.readUIntBE(0, END)));
    }
    if (saved === undefined) this.#make();
    else this.#making = { filter: saved.filter, nextEntry: saved.last.number + 1 };
  }

  /** Undefined until it is complete. */
  get filter(): IdFilter | undefined {
    return this.#filter;
  }

  /** The time it was noted, if that is after `since`. `digest` has one character per byte. */
  get(digest: string, since: number): number | undefined {
    if (this.#filter !== undefined && !this.#filter.mayHold(digest)) return undefined;
    KEY.write(digest, END, 'latin1');
    for (const end of this.#ends) {
      if (end <= since) continue;
      KEY.writeUIntBE(end, 0, END);
      const value = this.#store.getBinaryFast(KEY);
      if (value === undefined) continue;
      const time = Buffer.from(value.buffer, value.byteOffset, 8).readDoubleBE(0);
      if (time > since) return time;
    }
    return undefined;
  }

  /** Must run inside a transaction. Ids should come in the order of their digests. */
  put(digest: Buffer, time: number): void {
    const end = (Math.floor(time / this.#bucketMs) + 1) * this.#bucketMs;
    if (!this.#ends.includes(end)) this.#ends = [end, ...this.#ends].sort((a, b) => b - a);
    KEY.writeUIntBE(end, 0, END);
    digest.copy(KEY, END);
    const value = Buffer.allocUnsafe(8);
    value.writeDoubleBE(time, 0);
    // lmdb copies the key at once, but not the value.
    this.#store.put(KEY, value);
    this.#filter?.add(digest);
    this.#making?.filter.add(digest);
  }

  /** Whether some bucket holds only ids that were noted before `since`. */
  hasExpired(since: number): boolean {
    return (this.#ends.at(-1) ?? Number.POSITIVE_INFINITY) <= since;
  }

  /** Prepares the removal of at most `most` ids of such a bucket. `write` must run inside a transaction. The filter keeps them until it is rebuilt. */
  expire(since: number, most: number): { ids: number; write: () => void } {
    const end = this.#ends.at(-1);
    if (end === undefined || end > since) return { ids: 0, write: () => {} };
    const [from, until] = [Buffer.alloc(END), Buffer.alloc(END)];
    from.writeUIntBE(end, 0, END);
    until.writeUIntBE(end + 1, 0, END);
    const keys = Array.from(this.#store.getKeys({ start: from, end: until, limit: most }), (key) => Buffer.from(key));
    const write = () => {
      for (const key of keys) this.#store.remove(key);
    };
    // Only an empty bucket is forgotten: a transaction that fails leaves the ids.
    if (keys.length === 0) this.#ends.pop();
    return { ids: keys.length, write };
  }

  /** Builds the filter in small steps. Call periodically, and again soon while it returns true: there is more to do. */
  tend(): boolean {
    if (this.#making === undefined && (this.#filter === undefined || this.#filter.full)) this.#make();
    if (this.#making === undefined) return false;
    const { filter, nextEntry } = this.#making;
    let spent = 0;
    for (const { key, value } of this.#journal.getRange({ start: journalKey(nextEntry) })) {
      // The next step begins here. Entries that are added meanwhile reach the filter when their ids are put.
      if (spent >= IDS_AT_ONCE) return true;
      for (let at = ENTRY_HEAD; at < value.length; at += DIGEST) filter.add(value, at);
      spent += ENTRY_COST + value.length / DIGEST;
      this.#making.nextEntry = readSeq(key, 0) + 1;
    }
    this.#filter = filter;
    this.#making = undefined;
    return false;
  }

  #make(): void {
    const { entryCount } = this.#store.getStats() as { entryCount: number };
    const bits = Math.min(MOST_BITS, Math.max(FEWEST_BITS, Math.ceil(Math.log2(entryCount * 16))));
    if (entryCount * 8 > 2 ** MOST_BITS) this.#filter = undefined;
    else if (entryCount === 0) this.#filter = new IdFilter(bits);
    else this.#making = { filter: new IdFilter(bits), nextEntry: 0 };
  }
}
