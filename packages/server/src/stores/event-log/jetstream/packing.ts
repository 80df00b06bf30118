/** NATS takes messages up to its `max_payload` (1 MB unless set): a record near that limit is compressed on its way in. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { RecordTooLarge } from '../port.ts';

export const ENCODING = 'Fh-Encoding';
const DEFLATE = 'deflate';
/** Headers and subject count too. */
const HEADROOM = 8_192;
/** What a hostile record could unpack to; every record was at most a few megabytes when it was packed. */
const MOST_UNPACKED = 64 * 1_048_576;

/** Throws `RecordTooLarge` where even the compressed record does not fit. */
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
