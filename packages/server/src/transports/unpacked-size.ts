/** The unpacked size of a batch of Kafka messages, read from the packed bytes: formats whose decoders take no limit. */

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** The size that raw Snappy, or each chunk of the Java client's format, names in front. */
export function snappyLength(data: Buffer): number {
  if (!data.subarray(0, XERIAL.length).equals(XERIAL)) return varint(data, 0);
  let length = 0;
  for (let at = XERIAL_HEADER_BYTES; at + 4 < data.length; at += 4 + data.readUInt32BE(at)) length += varint(data, at + 4);
  return length;
}
function varint(data: Buffer, from: number): number {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = data[from + i] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) break;
  }
  return value;
}

const LZ4_FRAME = 0x184d2204;
/** Frames with data of the application's own, which decoders skip. */
const LZ4_SKIPPED = 0x184d2a50;

/**
 * An LZ4 frame does not have to name its size, so the lengths of its sequences are added up (lz4_Frame_format.md, lz4_Block_format.md).
 * Throws for anything else than LZ4 frames.
 */
export function lz4Length(data: Buffer): number {
  let length = 0;
  for (let at = 0; at + 4 <= data.length; ) {
    const magic = data.readUInt32LE(at);
    if (magic >>> 4 === LZ4_SKIPPED >>> 4) {
      at += 8 + (at + 8 <= data.length ? data.readUInt32LE(at + 4) : 0);
      continue;
    }
    if (magic !== LZ4_FRAME) throw new Error('a batch is no LZ4 frame');
    const frame = readFrame(data, at + 4);
    length += frame.length;
    at = frame.end;
  }
  return length;
}

function readFrame(data: Buffer, from: number): { length: number; end: number } {
  const flags = data[from] ?? 0;
  const checksum = flags & 0x10 ? 4 : 0;
  let at = from + 3 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  let length = 0;
  while (at + 4 <= data.length) {
    const size = data.readUInt32LE(at);
    at += 4;
    if (size === 0) return { length, end: at + (flags & 0x04 ? 4 : 0) };
    const bytes = size & 0x7fffffff;
    length += size > 0x7fffffff ? bytes : blockLength(data, at, Math.min(at + bytes, data.length));
    at += bytes + checksum;
  }
  return { length, end: data.length };
}

function blockLength(data: Buffer, from: number, end: number): number {
  let length = 0;
  let at = from;
  /** A count of 15 goes on in the following bytes, up to the first one below 255. */
  const counted = (first: number) => {
    let count = first;
    if (first < 15) return count;
    for (let byte = 255; byte === 255 && at < end; at++) {
      byte = data[at] ?? 0;
      count += byte;
    }
    return count;
  };
  while (at < end) {
    const token = data[at++] ?? 0;
    const literals = counted(token >> 4);
    length += literals;
    at += literals;
    // The last sequence has literals only.
    if (at >= end) break;
    at += 2;
    length += counted(token & 15) + 4;
  }
  return length;
}
