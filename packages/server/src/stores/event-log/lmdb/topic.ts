import { turns } from '../../../runtime/turns.ts';
import type { PackedRecords, StoredRecord } from '../port.ts';
import { type Block, type BlockRecord, blockTime, lastSeqOf, readBlock, recordIn } from './block.ts';
import type { Store } from './environment.ts';
import type { Group } from './group.ts';
import { readSeq, recordKey } from './keys.ts';
import { Packer } from './packer.ts';

/** Values are copied out of the store, so a read of many large records would hold the event loop. */
const READ_BYTES = 1_048_576;

/** Records whose blocks are loaded together: each time takes a fraction of a millisecond from this thread. */
const LOADED_RECORDS = 256;

const MOST_LANDMARKS = 128;
/** Blocks that one search for a block finds: records that were appended one after the other are in neighbouring ones. */
const NEAR_BLOCKS = 8;

interface BlockRange {
  first: number;
  last: number;
  time: number;
}

/** One topic: its number in keys, next sequence, groups, and the newest records while it is being read. */
export class Topic {
  readonly name: string;
  readonly family: string;
  readonly number: number;
  readonly groups = new Map<string, Group>();
  readonly #records: Store;
  /** False until its catalogue entry is stored. */
  stored: boolean;
  removed = false;
  /** The last expiry or erasure. One at a time: two would rewrite the same blocks from what each of them has read. */
  upkeep: Promise<unknown> = Promise.resolve();
  #next: number | undefined;
  readonly #leastNext: number;
  /** Blocks of the newest records, without a gap up to the end of the topic. */
  tail: Block[] = [];
  /** The block that `#rangeFrom` read last. Groups of one topic are close together, and blocks never change. */
  #lookedAt: BlockRange = { first: 1, last: 0, time: 0 };
  /** The blocks that searches by time have read, by the sequence they asked for. */
  readonly #landmarks = new Map<number, BlockRange>();
  /** Records of the commit that is being built. */
  building: { seqs: number[]; records: { id: string; data: Uint8Array }[] } | undefined;

  constructor(records: Store, name: string, number: number, leastNext: number, stored: boolean) {
    this.#records = records;
    this.name = name;
    const dot = name.indexOf('.');
    this.family = dot < 0 ? name : name.slice(0, dot);
    this.number = number;
    this.#leastNext = leastNext;
    this.stored = stored;
  }

  /** Sequence of the next record; the first one is 1. */
  get next(): number {
    if (this.#next === undefined) {
      let next = this.#leastNext;
      const range = { reverse: true, start: recordKey(this.number, Number.MAX_SAFE_INTEGER), end: recordKey(this.number, 0), limit: 1 };
      for (const { key, value } of this.#records.getRange(range)) next = Math.max(next, lastSeqOf(readSeq(key, 4), value) + 1);
      this.#next = next;
    }
    return this.#next;
  }
  set next(seq: number) {
    this.#next = seq;
  }

  /** Records from `seq` on, in log order. Returns whole blocks: about `limit` records or 1 MB; empty only at the end of the topic. */
  from(seq: number, limit: number): BlockRecord[] {
    const out: BlockRecord[] = [];
    const { tail } = this;
    if (tail.length > 0 && seq >= tail[0]!.first) {
      for (let i = this.#tailAt(seq); i < tail.length && out.length < limit; i++)
        readBlock(tail[i]!.first, tail[i]!.bytes, out, seq, limit, true);
      return out;
    }
    if (seq >= this.next) return out;
    const start = this.blockWith(seq) ?? seq;
    const range = { start: recordKey(this.number, start), end: recordKey(this.number, Number.MAX_SAFE_INTEGER) };
    let bytes = 0;
    for (const { key, value } of this.#records.getRange(range)) {
      readBlock(readSeq(key, 4), value, out, seq);
      bytes += value.length;
      if (out.length >= limit || (bytes >= READ_BYTES && out.length > 0)) break;
    }
    return out;
  }

  /** Append time of the first record from `seq` on. */
  timeFrom(seq: number): number | undefined {
    return this.#rangeFrom(seq)?.time;
  }
  /** The block of the first record from `seq` on. Decodes no record. */
  #rangeFrom(seq: number): BlockRange | undefined {
    const { tail } = this;
    if (tail.length > 0 && seq >= tail[0]!.first) {
      const block = tail[this.#tailAt(seq)];
      return block && { first: block.first, last: block.last, time: blockTime(block.bytes) };
    }
    if (seq >= this.next) return undefined;
    const known = this.#lookedAt;
    if (seq >= known.first && seq <= known.last) return known;
    // The block at or before it mostly has it. Otherwise records between the blocks were erased.
    const before = { reverse: true, start: recordKey(this.number, seq), end: recordKey(this.number, 0), limit: 1 };
    const after = { start: recordKey(this.number, seq), end: recordKey(this.number, Number.MAX_SAFE_INTEGER), limit: 1 };
    for (const range of [before, after])
      for (const { key, value } of this.#records.getRange(range)) {
        const first = readSeq(key, 4);
        const last = lastSeqOf(first, value);
        if (last >= seq) return (this.#lookedAt = { first, last, time: blockTime(value) });
      }
    return undefined;
  }

  /** Records at or before `seq`, newest first. Returns whole blocks: about `limit` records or 1 MB. */
  backFrom(seq: number, limit: number): BlockRecord[] {
    const out: BlockRecord[] = [];
    const range = { reverse: true, start: recordKey(this.number, seq), end: recordKey(this.number, 0) };
    let bytes = 0;
    for (const { key, value } of this.#records.getRange(range)) {
      const block = readBlock(readSeq(key, 4), value).reverse();
      for (const record of block) if (record.seq <= seq) out.push(record);
      bytes += value.length;
      if (out.length >= limit || (bytes >= READ_BYTES && out.length > 0)) break;
    }
    return out;
  }

  /**
   * Reads the blocks with the records from `from` to `to` into memory, in another thread. LMDB reads a memory map: whoever comes to a page of
   * 4 KB that is not in memory waits for the disk, and this thread accepts no event while it waits.
   */
  async load(from: number, to: number): Promise<void> {
    await this.#loadBlocks(from, to);
  }
  /** Resolves with their first sequences. */
  async #loadBlocks(from: number, to: number): Promise<number[]> {
    const start = recordKey(this.number, this.blockWith(from) ?? from);
    const keys = [...this.#records.getKeys({ start, end: recordKey(this.number, to + 1) })];
    await this.#records.prefetch(keys);
    return keys.map((key) => readSeq(key, 4));
  }

  /** The newest records at or before `seq`, newest first. */
  async *packedBack(seq: number, limit: number): AsyncGenerator<PackedRecords> {
    const packer = new Packer();
    let [through, left] = [seq, limit];
    while (left > 0 && through > 0) {
      const blocks = await this.#loadBlocks(Math.max(1, through - Math.min(left, LOADED_RECORDS) + 1), through);
      if (blocks.length === 0) break;
      for (const first of blocks.reverse()) {
        // A service with few events has a block for each.
        const turn = turns.bulk();
        if (turn !== undefined) await turn;
        const read = () => this.#records.getBinaryFast(recordKey(this.number, first));
        let bytes = read();
        if (bytes !== undefined && !packer.hasRoomFor(bytes)) {
          const full = packer.take();
          if (full) yield full;
          // Read again: another reader may have used lmdb's buffer.
          bytes = read();
        }
        // Undefined: its first record was erased since its key was read, which is rare enough for a sample.
        if (bytes !== undefined) left -= packer.add(first, bytes, through, left);
        if (left === 0) break;
      }
      through = blocks.at(-1)! - 1;
    }
    const rest = packer.take();
    if (rest) yield rest;
  }

  /** As `get` for each of these, after their blocks were loaded. */
  async getMany(seqs: readonly number[]): Promise<(StoredRecord | undefined)[]> {
    const wanted = [...new Set(seqs)].filter(Number.isSafeInteger).sort((a, b) => b - a);
    const firsts = this.#blocksWith(wanted);
    const blocks = new Set(firsts.filter((first) => first !== undefined));
    await this.#records.prefetch(Array.from(blocks, (first) => recordKey(this.number, first)));
    const found = new Map<number, StoredRecord | undefined>();
    let [read, bytes]: [first: number | undefined, bytes: Buffer | undefined] = [undefined, undefined];
    for (const [i, seq] of wanted.entries()) {
      const first = firsts[i];
      if (first === undefined) continue;
      if (first !== read) [read, bytes] = [first, this.#records.getBinaryFast(recordKey(this.number, first))];
      // The block has another key once its first record was erased.
      found.set(seq, bytes === undefined ? this.get(seq) : recordIn(first, bytes, seq));
    }
    return seqs.map((seq) => found.get(seq));
  }
  /** `blockWith` for each of these, which descend. */
  #blocksWith(seqs: readonly number[]): (number | undefined)[] {
    let near: number[] = [];
    return seqs.map((seq) => {
      const known = near.find((first) => first <= seq);
      if (known !== undefined) return known;
      const range = { reverse: true, start: recordKey(this.number, seq), end: recordKey(this.number, 0), limit: NEAR_BLOCKS };
      near = Array.from(this.#records.getKeys(range), (key) => readSeq(key, 4));
      return near[0];
    });
  }

  /**
   * A copy: a view of a single record would keep its whole block in memory until it is settled. The block is read into lmdb's own buffer,
   * because a new buffer of 64 KB for each record would be most of the cost.
   */
  get(seq: number): StoredRecord | undefined {
    const first = this.blockWith(seq);
    const bytes = first === undefined ? undefined : this.#records.getBinaryFast(recordKey(this.number, first));
    return first === undefined || bytes === undefined ? undefined : recordIn(first, bytes, seq);
  }

  /** The first sequence appended at or after `time`; the next sequence if there is none. The records of a block have one time. */
  seqAt(time: number): number {
    const search = this.#searchFor(time);
    for (;;) {
      const step = search.next();
      if (step.done) return step.value;
    }
  }
  /** The same, and loads every block before it is read. */
  async findSeqAt(time: number): Promise<number> {
    const search = this.#searchFor(time);
    for (;;) {
      const step = search.next();
      if (step.done) return step.value;
      if (!this.#landmarks.has(step.value)) await this.load(step.value, step.value);
    }
  }
  /** Yields each sequence whose block it is going to read. */
  *#searchFor(time: number): Generator<number, number> {
    let low = 1;
    let high = this.next;
    while (low < high) {
      const middle = roundest(low, high - 1);
      yield middle;
      const block = this.#landmark(middle);
      if (block === undefined) high = middle;
      else if (block.time >= time) high = Math.min(middle, block.first);
      else low = block.last + 1;
    }
    return low;
  }

  /** To read a block means to copy it, up to 64 KB. */
  #landmark(seq: number): BlockRange | undefined {
    const block = this.#landmarks.get(seq) ?? this.#rangeFrom(seq);
    if (block === undefined) return undefined;
    if (this.#landmarks.size >= MOST_LANDMARKS) this.#landmarks.clear();
    this.#landmarks.set(seq, block);
    return block;
  }

  /** Index of the first tail block that reaches `seq`; the tail's length if none does. */
  #tailAt(seq: number): number {
    const { tail } = this;
    let low = 0;
    let high = tail.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tail[middle]!.last < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** First sequence of the block that may contain `seq`. */
  blockWith(seq: number): number | undefined {
    const range = { reverse: true, start: recordKey(this.number, seq), end: recordKey(this.number, 0), limit: 1 };
    for (const key of this.#records.getKeys(range)) return readSeq(key, 4);
    return undefined;
  }
}

/**
 * The multiple of the highest power of two between two numbers. Searches that halve the range there ask for the same sequences, however
 * many records are appended meanwhile.
 */
function roundest(low: number, high: number): number {
  let step = 1;
  while (Math.ceil(low / (2 * step)) * 2 * step <= high) step *= 2;
  return Math.ceil(low / step) * step;
}
