import type { LogRecord, StoredRecord } from '../port.ts';

/**
 * Records of one topic that were committed together are one LMDB value: a put and a read cost the same for one record as
 * for fifty. Layout: time (float64), then per record: offset from the key's sequence (uint32), length of id (uint16),
 * length of data (uint32), id, data.
 */
const BLOCK_HEADER = 8;
const RECORD_HEADER = 10;
/** A block is split past this, so that reading one record never means reading megabytes. */
const BLOCK_BYTES = 65_536;

export interface Block {
  first: number;
  bytes: Buffer;
}

/** Room that is surely enough for these records, however they fall into blocks. */
export function roomFor(records: readonly LogRecord[]): number {
  let room = 0;
  for (const record of records) room += BLOCK_HEADER + RECORD_HEADER + record.id.length * 3 + record.data.length;
  return room;
}

/**
 * Writes records with ascending sequences into `arena` at `at`. Returns the blocks and, where somebody reads, the records
 * as they would get them, both pointing into the arena.
 */
export function writeBlocks(
  arena: Buffer,
  at: number,
  seqs: readonly number[],
  records: readonly LogRecord[],
  time: number,
  read: boolean,
): { blocks: Block[]; stored: StoredRecord[]; end: number } {
  const blocks: Block[] = [];
  const stored: StoredRecord[] = [];
  let start = -1;
  let first = 0;
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    if (start >= 0 && at - start + record.data.length > BLOCK_BYTES) {
      blocks.push({ first, bytes: arena.subarray(start, at) });
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
    const from = at;
    at += record.data.length;
    arena.writeUInt32BE(seqs[i]! - first, header);
    arena.writeUInt16BE(idLength, header + 4);
    arena.writeUInt32BE(record.data.length, header + 6);
    if (read) stored.push({ id: record.id, data: arena.subarray(from, at), position: positionOf(seqs[i]!), time });
  }
  if (start >= 0) blocks.push({ first, bytes: arena.subarray(start, at) });
  return { blocks, stored, end: at };
}

export function readBlock(first: number, bytes: Buffer): StoredRecord[] {
  const time = bytes.readDoubleBE(0);
  const records: StoredRecord[] = [];
  for (let at = BLOCK_HEADER; at < bytes.length; ) {
    const seq = first + bytes.readUInt32BE(at);
    const idEnd = at + RECORD_HEADER + bytes.readUInt16BE(at + 4);
    const end = idEnd + bytes.readUInt32BE(at + 6);
    records.push({
      id: bytes.toString('utf8', at + RECORD_HEADER, idEnd),
      data: bytes.subarray(idEnd, end),
      position: positionOf(seq),
      time,
    });
    at = end;
  }
  return records;
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
