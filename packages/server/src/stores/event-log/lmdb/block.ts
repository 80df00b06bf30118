import { freeBytes } from '../../../runtime/free-bytes.ts';
import type { LogRecord, StoredRecord } from '../port.ts';
import { readU32 } from './keys.ts';

/**
 * Records of one topic that were committed together form one LMDB value: a put or a read costs the same for one record as for fifty.
 * Layout: time (float64), then per record: offset from the key's sequence (uint32), id length (uint16), data length (uint32), id, data.
 */
const BLOCK_HEADER = 8;
const RECORD_HEADER = 10;
/** Maximum block size, so that reading one record never means reading megabytes. */
const BLOCK_BYTES = 65_536;

export interface Block {
  first: number;
  last: number;
  bytes: Buffer;
}
/**
 * A record in the bytes of its block. Only its data is read at once. Id and position are read on demand: a backlog would keep thousands of
 * these texts in memory.
 */
export class BlockRecord implements StoredRecord {
  readonly data: Buffer;
  /** The position as a number. */
  readonly seq: number;
  readonly #block: Buffer;
  readonly #idStart: number;
  readonly #idEnd: number;

  constructor(block: Buffer, seq: number, idStart: number, idEnd: number, end: number) {
    this.#block = block;
    this.seq = seq;
    this.#idStart = idStart;
    this.#idEnd = idEnd;
    this.data = block.subarray(idEnd, end);
  }
  get id(): string {
    return this.#block.toString('utf8', this.#idStart, this.#idEnd);
  }
  get position(): string {
    return positionOf(this.seq);
  }
  get time(): number {
    return blockTime(this.#block);
  }
  /** Does not refer to the bytes of the block. */
  copy(): BlockRecord {
    return copyOf(this.#block, this.seq, this.#idStart, this.#idEnd, this.#idEnd + this.data.length);
  }
  /** Frees the memory of its block, if it is the last record there. No record of the block may be read from now on. */
  freeBlock(): void {
    // A smaller block lies in a buffer together with others, and stays.
    if (this.#idEnd + this.data.length === this.#block.length) freeBytes(this.#block);
  }
}

function copyOf(block: Buffer, seq: number, idStart: number, idEnd: number, end: number): BlockRecord {
  const own = Buffer.allocUnsafe(BLOCK_HEADER + end - idStart);
  block.copy(own, 0, 0, BLOCK_HEADER);
  block.copy(own, BLOCK_HEADER, idStart, end);
  return new BlockRecord(own, seq, BLOCK_HEADER, BLOCK_HEADER + idEnd - idStart, own.length);
}

/** Upper bound of the bytes needed for these records, however they are split into blocks. */
export function roomFor(records: readonly LogRecord[]): number {
  let room = 0;
  for (const record of records) room += BLOCK_HEADER + RECORD_HEADER + record.id.length * 3 + record.data.length;
  return room;
}

/** Writes records with ascending sequences into `arena` at `at`. The returned blocks are views into the arena. */
export function writeBlocks(
  arena: Buffer,
  at: number,
  seqs: readonly number[],
  records: readonly LogRecord[],
  time: number,
): { blocks: Block[]; end: number } {
  const blocks: Block[] = [];
  let start = -1;
  let first = 0;
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    if (start >= 0 && at - start + record.data.length > BLOCK_BYTES) {
      blocks.push({ first, last: seqs[i - 1]!, bytes: arena.subarray(start, at) });
      start = -1;
    }
    if (start < 0) {
      start = at;
      first = seqs[i]!;
      at = arena.writeDoubleBE(time, at);
    }
    const header = at;
    at += RECORD_HEADER;
    const idLength = arena.write(record.id, at);
    at += idLength;
    arena.set(record.data, at);
    at += record.data.length;
    arena.writeUInt32BE(seqs[i]! - first, header);
    arena.writeUInt16BE(idLength, header + 4);
    arena.writeUInt32BE(record.data.length, header + 6);
  }
  if (start >= 0) blocks.push({ first, last: seqs.at(-1)!, bytes: arena.subarray(start, at) });
  return { blocks, end: at };
}

/**
 * Appends the block's records from sequence `from` on to `out`, until `out` holds `limit`. Other records are skipped without decoding.
 * `copied`: the records do not refer to `bytes`, which will be overwritten.
 */
export function readBlock(
  first: number,
  bytes: Buffer,
  out: BlockRecord[] = [],
  from = 0,
  limit = Number.POSITIVE_INFINITY,
  copied = false,
): BlockRecord[] {
  for (let at = BLOCK_HEADER; at < bytes.length && out.length < limit; ) {
    const seq = first + readU32(bytes, at);
    const idStart = at + RECORD_HEADER;
    const idEnd = idStart + ((bytes[at + 4]! << 8) | bytes[at + 5]!);
    const end = idEnd + readU32(bytes, at + 6);
    if (seq >= from) out.push(copied ? copyOf(bytes, seq, idStart, idEnd, end) : new BlockRecord(bytes, seq, idStart, idEnd, end));
    at = end;
  }
  return out;
}

/** A copy of one record. The others are skipped without decoding. */
export function recordIn(first: number, bytes: Buffer, wanted: number): BlockRecord | undefined {
  for (let at = BLOCK_HEADER; at < bytes.length; ) {
    const seq = first + readU32(bytes, at);
    const idStart = at + RECORD_HEADER;
    const idEnd = idStart + ((bytes[at + 4]! << 8) | bytes[at + 5]!);
    const end = idEnd + readU32(bytes, at + 6);
    if (seq === wanted) return copyOf(bytes, seq, idStart, idEnd, end);
    at = end;
  }
  return undefined;
}

/** Three numbers for each record: its sequence, counted from the first of the block, and where its data begins and ends. */
export function dataPlaces(bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = BLOCK_HEADER; at < bytes.length; ) {
    const start = at + RECORD_HEADER + ((bytes[at + 4]! << 8) | bytes[at + 5]!);
    const end = start + readU32(bytes, at + 6);
    places.push(readU32(bytes, at), start, end);
    at = end;
  }
  return places;
}

export function blockTime(bytes: Buffer): number {
  return bytes.readDoubleBE(0);
}

/** The last sequence in a block, without reading its records' contents. */
export function lastSeqOf(first: number, bytes: Buffer): number {
  let last = first;
  for (let at = BLOCK_HEADER; at < bytes.length; ) {
    last = first + bytes.readUInt32BE(at);
    at += RECORD_HEADER + bytes.readUInt16BE(at + 4) + bytes.readUInt32BE(at + 6);
  }
  return last;
}

const ZEROS = '0000000000000000';
export function positionOf(seq: number): string {
  const digits = String(seq);
  return ZEROS.slice(digits.length) + digits;
}
export function seqOf(position: string): number {
  return Number(position);
}
