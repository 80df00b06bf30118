import { hash } from 'node:crypto';
import type { Environment, Store } from './environment.ts';
import { journalKey, metaKeys, readSeq } from './keys.ts';

const DIGEST = 20;
/** Ids kept in memory before they move to the tree: the more, the more of them share a page there, which is written for each anew. */
const SEAL_AT = 65_536;
const EXPIRE_SLICE = 2_000;

/** The part of one commit. */
interface Building {
  digests: string[];
  drained: string[];
  drainBefore: number | undefined;
  drainedBefore: number;
  entry: boolean;
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
  readonly #tree: Store;
  readonly #journal: Store;
  readonly #meta: Store;
  #nextEntry = 1;
  #drained = 0;
  readonly #recent = new Recent();
  /** The bucket that moves to the tree next, while they do; what was noted through this entry will be there then. */
  #drainNext: number | undefined;
  #drainingThrough = 0;
  #commit: Building | undefined;
  /** The newest time any entry carries: time must not go back below it. */
  readonly lastKnownTime: number = 0;
  #oldestEntryTime: number | undefined;

  constructor(environment: Environment, windowMs: number, steady: () => number) {
    this.#windowMs = windowMs;
    this.#steady = steady;
    this.#tree = environment.store('dedup');
    this.#journal = environment.store('dedup-journal');
    this.#meta = environment.store('meta');
    const drained = this.#meta.get(metaKeys.drained);
    if (drained) this.#drained = readSeq(drained, 0);
    for (const { key, value } of this.#journal.getRange({ start: journalKey(0), limit: 1 })) {
      this.#oldestEntryTime = value.readDoubleBE(0);
      this.#nextEntry = readSeq(key, 0) + 1;
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
    this.#commit = { digests: [], drained: [], drainBefore: this.#drainNext, drainedBefore: this.#drained, entry: false };
  }

  /** True where the id is new; it is then taken as known, unless the commit fails. */
  admit(family: string, id: string): boolean {
    const digest = hash('sha1', `${family}\0${id}`, 'binary');
    const now = this.#steady();
    const noted = this.#recent.get(digest) ?? this.#inTree(digest);
    if (noted !== undefined && noted > now - this.#windowMs) return false;
    this.#recent.set(digest, now);
    this.#commit!.digests.push(digest);
    return true;
  }

  #inTree(digest: string): number | undefined {
    TREE_KEY.write(digest, 0, 'latin1');
    const value = this.#tree.getBinaryFast(TREE_KEY);
    return value === undefined ? undefined : Buffer.from(value.buffer, value.byteOffset, 8).readDoubleBE(0);
  }

  /** Inside the commit's transaction. */
  write(): void {
    const commit = this.#commit!;
    if (commit.digests.length > 0) {
      const time = this.#steady();
      const entry = Buffer.allocUnsafe(8 + commit.digests.length * DIGEST);
      let at = entry.writeDoubleBE(time, 0);
      for (const digest of commit.digests) at += entry.write(digest, at, 'latin1');
      this.#journal.put(journalKey(this.#nextEntry++), entry);
      this.#oldestEntryTime ??= time;
      commit.entry = true;
    }
    this.#drain(commit);
  }

  /** Bucket after bucket, so that none of it takes long: all ids sorted at once would hold up everybody for tens of milliseconds. */
  #drain(commit: Building): void {
    if (this.#drainNext === undefined) {
      if (this.#recent.size - commit.digests.length < SEAL_AT && !this.#mustDrain()) return;
      this.#drainNext = 0;
      this.#drainingThrough = this.#nextEntry - (commit.entry ? 2 : 1);
    }
    const since = this.#steady() - this.#windowMs;
    const enough = commit.digests.length * 2 + 64;
    while (this.#drainNext < BUCKETS && commit.drained.length < enough) {
      for (const [digest, time] of this.#recent.bucket(this.#drainNext++)) {
        commit.drained.push(digest);
        if (time <= since) continue;
        const value = Buffer.allocUnsafe(8);
        value.writeDoubleBE(time, 0);
        TREE_KEY.write(digest, 0, 'latin1');
        this.#tree.put(TREE_KEY, value);
      }
    }
    if (this.#drainNext < BUCKETS) return;
    this.#drainNext = undefined;
    this.#drained = this.#drainingThrough;
    this.#meta.put(metaKeys.drained, journalKey(this.#drained));
  }

  /** The oldest ids are past the window, and still only in memory: without this they would never leave the journal. */
  #mustDrain(): boolean {
    return this.#recent.size > 0 && this.#oldestEntryTime !== undefined && this.#expired(this.#oldestEntryTime);
  }
  #expired(time: number): boolean {
    return time <= this.#steady() - this.#windowMs;
  }

  committed(): void {
    for (const digest of this.#commit!.drained) this.#recent.delete(digest);
    this.#commit = undefined;
  }

  failed(): void {
    const commit = this.#commit!;
    for (const digest of commit.digests) this.#recent.delete(digest);
    this.#drainNext = commit.drainBefore;
    this.#drained = commit.drainedBefore;
    if (commit.entry) this.#nextEntry--;
    this.#commit = undefined;
  }

  /** True while entries wait whose time has passed: the owner then commits `expire`, and a plain commit drains. */
  get hasExpired(): boolean {
    return this.#oldestEntryTime !== undefined && this.#expired(this.#oldestEntryTime);
  }

  /** Prepares the removal of some ids past the window; `write` runs inside a transaction. */
  expire(): { entries: number; write: () => void } {
    const since = this.#steady() - this.#windowMs;
    const entries: Buffer[] = [];
    const digests: string[] = [];
    let oldest: number | undefined;
    for (const { key, value } of this.#journal.getRange({ start: journalKey(0), end: journalKey(this.#nextEntry) })) {
      const time = value.readDoubleBE(0);
      if (time > since || readSeq(key, 0) > this.#drained || digests.length >= EXPIRE_SLICE) {
        oldest = time;
        break;
      }
      // The newest entry stays: it tells the next process how late it was.
      if (readSeq(key, 0) === this.#nextEntry - 1) break;
      entries.push(key);
      for (let at = 8; at < value.length; at += DIGEST) {
        const digest = value.toString('latin1', at, at + DIGEST);
        const noted = this.#inTree(digest);
        // It may have come again since, and then a later entry speaks for it.
        if (noted !== undefined && noted <= since) digests.push(digest);
      }
    }
    digests.sort();
    const write = () => {
      this.#oldestEntryTime = oldest;
      for (const entry of entries) this.#journal.remove(entry);
      for (const digest of digests) {
        TREE_KEY.write(digest, 0, 'latin1');
        this.#tree.remove(TREE_KEY);
      }
    };
    return { entries: entries.length, write };
  }
}

const TREE_KEY = Buffer.alloc(DIGEST);

const BUCKETS = 256;

/** The ids in memory and when each was noted, in buckets by their first byte: digests spread evenly, so each is small. */
class Recent {
  readonly #buckets = Array.from({ length: BUCKETS }, () => new Map<string, number>());
  size = 0;

  get(digest: string): number | undefined {
    return this.#buckets[digest.charCodeAt(0)]!.get(digest);
  }
  set(digest: string, time: number): void {
    const bucket = this.#buckets[digest.charCodeAt(0)]!;
    if (!bucket.has(digest)) this.size++;
    bucket.set(digest, time);
  }
  delete(digest: string): void {
    if (this.#buckets[digest.charCodeAt(0)]!.delete(digest)) this.size--;
  }
  /** In ascending order; buckets follow each other in it. */
  bucket(number: number): [digest: string, time: number][] {
    return [...this.#buckets[number]!].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
