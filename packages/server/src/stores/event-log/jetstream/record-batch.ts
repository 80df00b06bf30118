/**
 * Many records in one message. The payload holds ids and bodies; a header holds a short hash of each id, so that a reader can rebuild its
 * deduplication window without the bodies.
 */
import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { type LogRecord, RecordTooLarge } from '../port.ts';

const IDS = 'Fh-Ids';
const ENCODING = 'Fh-Encoding';
const DEFLATE = 'deflate';
const HASH_BYTES = 8;
/** Reserved for headers and subject, which count towards the broker's `max_payload`. */
export const HEADROOM = 16_384;
/** Bounds the decompressed size of a hostile message. Genuine ones are at most a few megabytes. */
const MOST_UNPACKED = 64 * 1_048_576;
export const MOST_RECORDS = 400;
const MOST_BYTES = 262_144;

/** A record that is ready to be written. */
export interface Packed {
  /** The first 8 bytes of the id's SHA-256. An attacker who chooses ids cannot make them collide with another tenant's. */
  hash: Buffer;
  /** Length and bytes of the id, length and bytes of the body. */
  bytes: Buffer;
}

export function packRecord(record: LogRecord): Packed {
  // As text: a buffer from the digest costs four times as much.
  const digest = hash('sha256', record.id.toWellFormed(), 'binary').slice(0, HASH_BYTES);
  return { hash: Buffer.from(digest, 'latin1'), bytes: packBytes(record) };
}
export function packBytes({ id, data }: LogRecord): Buffer {
  const text = id.toWellFormed();
  const idLength = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(8 + idLength + data.length);
  bytes.writeUInt32BE(idLength, 0);
  bytes.write(text, 4, 'utf8');
  bytes.writeUInt32BE(data.length, 4 + idLength);
  bytes.set(data, 8 + idLength);
  return bytes;
}

/** The number of records, from the front, that fit into one message. At least one. */
export function fitting(records: readonly Packed[], maxPayload: number): number {
  const limit = Math.min(MOST_BYTES, maxPayload - HEADROOM);
  let bytes = 0;
  let count = 0;
  for (const record of records) {
    bytes += record.bytes.length;
    if (count > 0 && (bytes > limit || count >= MOST_RECORDS)) break;
    count++;
  }
  return count;
}

/** Throws `RecordTooLarge` when even the compressed batch does not fit. */
export function encodeBatch(records: readonly Packed[], maxPayload: number): { data: Uint8Array; headers: MsgHdrs } {
  const meta = headers();
  meta.set(IDS, Buffer.concat(records.map((record) => record.hash)).toString('base64'));
  const data = records.length === 1 && records[0] ? records[0].bytes : Buffer.concat(records.map(({ bytes }) => bytes));
  if (data.length + HEADROOM <= maxPayload) return { data, headers: meta };
  const packed = deflateRawSync(data, { level: 1 });
  if (packed.length + HEADROOM > maxPayload)
    throw new RecordTooLarge(`a record of ${data.length} bytes is more than the broker takes (max_payload ${maxPayload})`);
  meta.set(ENCODING, DEFLATE);
  return { data: packed, headers: meta };
}

export function decodeBatch(data: Uint8Array, meta: MsgHdrs | undefined): LogRecord[] {
  const plain = meta?.get(ENCODING) === DEFLATE ? inflateRawSync(data, { maxOutputLength: MOST_UNPACKED }) : data;
  return unpackRecords(Buffer.from(plain.buffer, plain.byteOffset, plain.length));
}
export function unpackRecords(bytes: Buffer): LogRecord[] {
  const records: LogRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const idEnd = at + 4 + bytes.readUInt32BE(at);
    const end = idEnd + 4 + bytes.readUInt32BE(idEnd);
    records.push({ id: bytes.toString('utf8', at + 4, idEnd), data: bytes.subarray(idEnd + 4, end) });
    at = end;
  }
  return records;
}

/** The hashes of a message's records, 8 bytes each. */
export function hashesOf(meta: MsgHdrs | undefined): Buffer {
  return Buffer.from(meta?.get(IDS) ?? '', 'base64');
}
