/** NATS limits messages to `max_payload` (1 MB by default). Records near that limit are compressed before publishing. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { RecordTooLarge } from '../port.ts';

export const ENCODING = 'Fh-Encoding';
const DEFLATE = 'deflate';
/** Reserved for headers and subject, which count towards the limit. */
const HEADROOM = 8_192;
/** Bounds the decompressed size of a hostile record. Genuine records are at most a few megabytes. */
const MOST_UNPACKED = 64 * 1_048_576;

/** Throws `RecordTooLarge` when even the compressed record does not fit. */
export function pack(data: Uint8Array, maxPayload: number): { data: Uint8Array; encoding: string | undefined } {
  if (data.length + HEADROOM <= maxPayload) return { data, encoding: undefined };
  const packed = deflateRawSync(data, { level: 1 });
  if (packed.length + HEADROOM > maxPayload)
    throw new RecordTooLarge(`a record of ${data.length} bytes is more than the broker takes (max_payload ${maxPayload})`);
  return { data: packed, encoding: DEFLATE };
}

export function unpack(data: Uint8Array, encoding: string | undefined): Uint8Array {
  return encoding === DEFLATE ? inflateRawSync(data, { maxOutputLength: MOST_UNPACKED }) : data;
}
