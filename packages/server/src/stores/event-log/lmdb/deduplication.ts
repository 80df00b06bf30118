import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';
import type { Environment, Store } from './environment.ts';
import { loadFilter, type SavedFilter, saveFilter } from './id-filter-file.ts';
import { DIGEST, IdTable } from './id-table.ts';
import { IdTree } from './id-tree.ts';
import { journalKey, metaKeys, readSeq } from './keys.ts';

/**
 * Number of ids an in-memory table takes before it moves to the tree. More ids share a tree page then, and each page write is amortised
 * better.
 */
const SEAL_AT = 65_536;
const TABLE_BITS = 17;
const EXPIRE_SLICE = 2_000;
/** Journal entries: each has the ids of a commit. */
const EXPIRE_ENTRIES = 500;
/** Buckets of the tree per window: a lookup that passes the filter reads each of them. */
const BUCKETS = 8;
const DRAIN_FACTOR = 1.25;
const DRAIN_IDLE = 64;

/** Ids collected for one commit. */
interface Building {
  /** When it began. */
  time: number;
  digests: string[];
  drainBefore: number;
  drainedBefore: number;
  entry: boolean;
}
/** A full table that is being moved to the tree. */
interface Sealed {
  table: IdTable;
  /** Index of the first slot not yet moved. */
  next: number;
  /** The last journal entry whose ids are in the tree once the move is complete. */
  through: number;
}

/** Names of the stores, and the key of the last journal entry whose ids are in the tree. */
export interface IdStores {
  journal: string;
  ids: string;
  drained: Buffer;
}
/** Ingest and the other roles may write in different threads, so each has its own. Earlier versions kept all ids in those of ingest. */
export const INGEST_IDS: IdStores = { journal: 'dedup-journal', ids: 'ids', drained: metaKeys.drained };
export const OTHER_IDS: IdStores = { journal: 'other-dedup-journal', ids: 'other-ids', drained: metaKeys.drainedOther };

/**
 * Tracks which record ids are known inside the deduplication window. A tree of digests alone would dirty a page per record and halve the
 * log's throughput. So each commit writes its ids as one journal entry. The newest ids live in memory (rebuilt from the journal at start)
 * and move to the tree later, in order, a few with each commit. The journal entry stays until the window has passed.
 */
export class Deduplication {
  readonly #windowMs: number;
  readonly #steady: () => number;
  readonly #tree: IdTree;
  readonly #journal: Store;
  readonly #meta: Store;
  readonly #drainedKey: Buffer;
  readonly #filterPath: string;
  #saved: SavedFilter | undefined;
  #nextEntry = 1;
  #drained = 0;
  #recent = new IdTable(TABLE_BITS);
  #sealed: Sealed | undefined;
  #commit: Building | undefined;
  /** The newest time in any entry. The clock must not go back below it. */
  readonly lastKnownTime: number = 0;
  #oldestEntry: { number: number; time: number } | undefined;

  constructor(environment: Environment, windowMs: number, steady: () => number, stores = INGEST_IDS) {
    this.#windowMs = windowMs;
    this.#steady = steady;
    this.#journal = environment.store(stores.journal);
    this.#meta = environment.store('meta');
    this.#drainedKey = stores.drained;
    if (stores === INGEST_IDS) this.#takeOver(environment);
    this.#filterPath = join(environment.path, `${stores.ids}.filter`);
    this.#saved = this.#loadFilter();
    this.#tree = new IdTree(environment.store(stores.ids), this.#journal, Math.ceil(windowMs / BUCKETS), this.#saved);
    const drained = this.#meta.get(this.#drainedKey);
    if (drained) this.#drained = readSeq(drained, 0);
    for (const { key, value } of this.#journal.getRange({ start: journalKey(0), limit: 1 })) {
      this.#oldestEntry = { number: readSeq(key, 0), time: value.readDoubleBE(0) };
      this.#nextEntry = this.#oldestEntry.number + 1;
    }
    for (const { key, value } of this.#journal.getRange({ reverse: true, limit: 1 })) {
      this.lastKnownTime = value.readDoubleBE(0);
      this.#nextEntry = readSeq(key, 0) + 1;
    }
    this.#nextEntry = Math.max(this.#nextEntry, this.#drained + 1);
    for (const { value } of this.#journal.getRange({ start: journalKey(this.#drained + 1) })) {
      const time = value.readDoubleBE(0);
      for (let at = 8; at < value.length; at += DIGEST) this.#recent.set(value.toString('latin1', at, at + DIGEST), time);
    }
  }

  /**
   * Earlier versions kept a tree without buckets. The journal has all of its ids, so they move again from there. An earlier version that
   * is started on this store does the same.
   */
  #takeOver({ root, store }: Environment): void {
    if (this.#meta.get(metaKeys.drainedBefore) === undefined) return;
    const before = store('dedup');
    root.transactionSync(() => {
      before.clearSync();
      this.#meta.removeSync(metaKeys.drainedBefore);
      this.#meta.removeSync(metaKeys.drained);
    });
  }

  /** The one that a process left to this one, if it belongs to this journal. */
  #loadFilter(): SavedFilter | undefined {
    const saved = loadFilter(this.#filterPath);
    return saved !== undefined && this.#digestOf(saved.last.number)?.equals(saved.last.digest) ? saved : undefined;
  }
  #digestOf(entry: number): Buffer | undefined {
    const value = this.#journal.get(journalKey(entry));
    return value && createHash('sha1').update(value).digest();
  }

  /** Leaves the filter to the next process. Call now and then, and after the last commit. */
  async save(): Promise<void> {
    const { filter } = this.#tree;
    // Before the filter is written: what it has by now is complete up to here.
    const number = this.#drained;
    if (filter === undefined || (filter === this.#saved?.filter && number === this.#saved.last.number)) return;
    const digest = this.#digestOf(number);
    if (digest === undefined) return;
    const saved = { filter, last: { number, digest } };
    await saveFilter(this.#filterPath, saved);
    this.#saved = saved;
  }

  /** Starts collecting the ids of the next commit. */
  begin(): void {
    if (this.#sealed === undefined && (this.#recent.size >= SEAL_AT || this.#mustDrain())) this.#seal();
    this.#commit = {
      time: this.#steady(),
      digests: [],
      drainBefore: this.#sealed?.next ?? 0,
      drainedBefore: this.#drained,
      entry: false,
    };
  }

  /** Returns true if the id is new. It is known from then on, unless the commit fails. */
  admit(family: string, id: string): boolean {
    const { time, digests } = this.#commit!;
    const digest = hash('sha1', `${family}\0${id}`, 'binary');
    const since = time - this.#windowMs;
    const noted = this.#recent.get(digest) ?? this.#sealed?.table.get(digest) ?? this.#tree.get(digest, since);
    if (noted !== undefined && noted > since) return false;
    this.#recent.set(digest, time);
    digests.push(digest);
    return true;
  }

  /** Must run inside the commit's transaction. */
  write(): void {
    const commit = this.#commit!;
    if (commit.digests.length > 0) {
      const time = this.#steady();
      const entry = Buffer.allocUnsafe(8 + commit.digests.length * DIGEST);
      entry.writeDoubleBE(time, 0);
      entry.write(commit.digests.join(''), 8, 'latin1');
      this.#oldestEntry ??= { number: this.#nextEntry, time };
      this.#journal.put(journalKey(this.#nextEntry++), entry);
      commit.entry = true;
    }
    if (this.#sealed === undefined) return;
    // Drain slightly faster than ids arrive: the move finishes in time, and no commit grows much.
    this.#drain(this.#sealed, commit.digests.length === 0 ? DRAIN_IDLE : Math.ceil(commit.digests.length * DRAIN_FACTOR) + 4);
  }

  /** Ids noted so far start moving to the tree; new ids go into a new table. */
  #seal(): void {
    this.#sealed = { table: this.#recent, next: 0, through: this.#nextEntry - 1 };
    this.#recent = new IdTable(TABLE_BITS);
  }
  /** Moves some ids with each commit. Moving all at once would block the event loop for tens of milliseconds. */
  #drain(sealed: Sealed, enough: number): void {
    const since = this.#steady() - this.#windowMs;
    for (let moved = 0; moved < enough && sealed.next < sealed.table.places; sealed.next++) {
      const noted = sealed.table.at(sealed.next);
      if (noted === undefined || noted.time <= since) continue;
      this.#tree.put(noted.digest, noted.time);
      moved++;
    }
    if (sealed.next < sealed.table.places) return;
    this.#drained = sealed.through;
    this.#meta.put(this.#drainedKey, journalKey(this.#drained));
  }

  /** The oldest ids are past the window but still only in memory. Unless they are drained, they never leave the journal. */
  #mustDrain(): boolean {
    return this.#recent.size > 0 && this.#hasExpiredEntry && this.#oldestEntry!.number > this.#drained;
  }

  committed(): void {
    // The whole table is now durably in the tree, so memory can drop it.
    if (this.#sealed !== undefined && this.#sealed.next === this.#sealed.table.places) this.#sealed = undefined;
    this.#commit = undefined;
  }

  failed(): void {
    const commit = this.#commit!;
    for (const digest of commit.digests) this.#recent.unset(digest);
    if (this.#sealed !== undefined) this.#sealed.next = commit.drainBefore;
    this.#drained = commit.drainedBefore;
    if (commit.entry) this.#nextEntry--;
    this.#commit = undefined;
  }

  /** Call periodically, and again soon while it returns true. */
  tend(): boolean {
    return this.#tree.tend();
  }

  /** True while expired ids exist. The owner then commits `expire`; an ordinary commit drains. */
  get hasExpired(): boolean {
    return this.#hasExpiredEntry || this.#tree.hasExpired(this.#steady() - this.#windowMs);
  }
  get #hasExpiredEntry(): boolean {
    return this.#oldestEntry !== undefined && this.#oldestEntry.time <= this.#steady() - this.#windowMs;
  }

  /** Prepares the removal of some expired ids. `write` must run inside a transaction. */
  expire(): { entries: number; write: () => void } {
    const since = this.#steady() - this.#windowMs;
    const entries: Buffer[] = [];
    let oldest: { number: number; time: number } | undefined;
    for (const { key, value } of this.#journal.getRange({ start: journalKey(0), end: journalKey(this.#nextEntry) })) {
      const time = value.readDoubleBE(0);
      const number = readSeq(key, 0);
      if (time > since || number > this.#drained || entries.length >= EXPIRE_ENTRIES) {
        oldest = { number, time };
        break;
      }
      // Keep the newest entry: its time is the lower bound for the clock of the next process.
      if (number === this.#nextEntry - 1) break;
      entries.push(Buffer.from(key));
    }
    const bucket = this.#tree.expire(since, EXPIRE_SLICE);
    const write = () => {
      this.#oldestEntry = oldest;
      for (const entry of entries) this.#journal.remove(entry);
      bucket.write();
    };
    return { entries: entries.length + bucket.ids, write };
  }
}
