import { hash } from 'node:crypto';
import type { Environment, Store } from './environment.ts';
import { DIGEST, IdTable } from './id-table.ts';
import { IdTree } from './id-tree.ts';
import { journalKey, metaKeys, readSeq } from './keys.ts';

/**
 * Ids that a table in memory takes before it moves to the tree: the more, the more of them share a page there, which is written
 * for each anew.
 */
const SEAL_AT = 65_536;
const TABLE_BITS = 17;
const EXPIRE_SLICE = 2_000;
const DRAIN_FACTOR = 1.25;
const DRAIN_IDLE = 64;

/** The part of one commit. */
interface Building {
  digests: string[];
  drainBefore: number;
  drainedBefore: number;
  entry: boolean;
}
/** A table that is full, on its way to the tree. */
interface Sealed {
  table: IdTable;
  /** The first place that has not gone yet. */
  next: number;
  /** The last journal entry whose ids are in the tree when all has gone. */
  through: number;
}

/**
 * Which record ids are known inside the window. A tree of digests alone would dirty a page for every record, half the
 * throughput of the log. So each commit writes its ids as one journal entry; the newest ids live in memory, rebuilt from
 * the journal at start, and move to the tree later, in order, some with each commit. The journal entry stays until the
 * window has passed, and then says what to remove from the tree.
 */
export class Deduplication {
  readonly #windowMs: number;
  readonly #steady: () => number;
  readonly #tree: IdTree;
  readonly #journal: Store;
  readonly #meta: Store;
  #nextEntry = 1;
  #drained = 0;
  #recent = new IdTable(TABLE_BITS);
  #sealed: Sealed | undefined;
  #commit: Building | undefined;
  /** The newest time any entry carries: time must not go back below it. */
  readonly lastKnownTime: number = 0;
  #oldestEntry: { number: number; time: number } | undefined;

  constructor(environment: Environment, windowMs: number, steady: () => number) {
    this.#windowMs = windowMs;
    this.#steady = steady;
    this.#tree = new IdTree(environment.store('dedup'));
    this.#journal = environment.store('dedup-journal');
    this.#meta = environment.store('meta');
    const drained = this.#meta.get(metaKeys.drained);
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

  /** Begins to collect what the next commit stores. */
  begin(): void {
    if (this.#sealed === undefined && (this.#recent.size >= SEAL_AT || this.#mustDrain())) this.#seal();
    this.#commit = { digests: [], drainBefore: this.#sealed?.next ?? 0, drainedBefore: this.#drained, entry: false };
  }

  /** True where the id is new; it is then taken as known, unless the commit fails. */
  admit(family: string, id: string): boolean {
    const digest = hash('sha1', `${family}\0${id}`, 'binary');
    const now = this.#steady();
    const noted = this.#recent.get(digest) ?? this.#sealed?.table.get(digest) ?? this.#tree.get(digest);
    if (noted !== undefined && noted > now - this.#windowMs) return false;
    this.#recent.set(digest, now);
    this.#commit!.digests.push(digest);
    return true;
  }

  /** Inside the commit's transaction. */
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
    // A little faster than ids come, so that it is over in time and no commit is much larger than it would be anyway.
    this.#drain(this.#sealed, commit.digests.length === 0 ? DRAIN_IDLE : Math.ceil(commit.digests.length * DRAIN_FACTOR) + 4);
  }

  /** What came before this commit goes to the tree from now on; what comes is noted in a new table. */
  #seal(): void {
    this.#sealed = { table: this.#recent, next: 0, through: this.#nextEntry - 1 };
    this.#recent = new IdTable(TABLE_BITS);
  }
  /** Some with each commit: all at once would hold up everybody for tens of milliseconds. */
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
    this.#meta.put(metaKeys.drained, journalKey(this.#drained));
  }

  /** The oldest ids are past the window, and still only in memory: without this they would never leave the journal. */
  #mustDrain(): boolean {
    return this.#recent.size > 0 && this.hasExpired && this.#oldestEntry!.number > this.#drained;
  }

  committed(): void {
    // All of it is in the tree: only now that this is certain may memory forget it.
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

  /** To be called now and then. */
  tend(): void {
    this.#tree.tend();
  }

  /** True while entries wait whose time has passed: the owner then commits `expire`, and a plain commit drains. */
  get hasExpired(): boolean {
    return this.#oldestEntry !== undefined && this.#oldestEntry.time <= this.#steady() - this.#windowMs;
  }

  /** Prepares the removal of some ids past the window; `write` runs inside a transaction. */
  expire(): { entries: number; write: () => void } {
    const since = this.#steady() - this.#windowMs;
    const entries: Buffer[] = [];
    const digests: string[] = [];
    let oldest: { number: number; time: number } | undefined;
    for (const { key, value } of this.#journal.getRange({ start: journalKey(0), end: journalKey(this.#nextEntry) })) {
      const time = value.readDoubleBE(0);
      const number = readSeq(key, 0);
      if (time > since || number > this.#drained || digests.length >= EXPIRE_SLICE) {
        oldest = { number, time };
        break;
      }
      // The newest entry stays: it tells the next process how late it was.
      if (number === this.#nextEntry - 1) break;
      entries.push(key);
      for (let at = 8; at < value.length; at += DIGEST) {
        const digest = value.toString('latin1', at, at + DIGEST);
        const noted = this.#tree.get(digest);
        // It may have come again since, and then a later entry speaks for it.
        if (noted !== undefined && noted <= since) digests.push(digest);
      }
    }
    digests.sort();
    const write = () => {
      this.#oldestEntry = oldest;
      for (const entry of entries) this.#journal.remove(entry);
      for (const digest of digests) this.#tree.remove(digest);
    };
    return { entries: entries.length, write };
  }
}
