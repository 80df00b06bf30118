/** Bytes to a JSON value, everything untrusted about them checked first: unpacked size, encoding, depth. */
import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { itemsOf } from '@firsthand/core/event/batch-items.ts';
import { nestsDeeperThan } from '@firsthand/core/event/depth.ts';
import type { Refusal } from './answers.ts';

export const MAX_DEPTH = 64;
/** Small bodies are unpacked at once; above this a worker thread does it and the other requests go on. */
const UNPACK_INLINE_BYTES = 8_192;
const gunzipLater = promisify(gunzip);

/** `items`: where those of a batch begin and end, in turns. */
export type Parsed = { ok: true; value: unknown; items?: number[] | undefined } | { ok: false; refusal: Refusal };
export type Unpacked = { ok: true; bytes: Buffer } | { ok: false; refusal: Refusal };

export const TOO_LARGE: Refusal = { code: 'payload_too_large' };
const NOT_JSON: Refusal = { code: 'invalid_json' };
const NOT_UTF8: Refusal = { code: 'invalid_json', message: 'The body is not valid UTF-8.' };
const BAD_GZIP: Refusal = { code: 'invalid_json', message: 'The body is not valid gzip.' };
const TOO_DEEP: Refusal = { code: 'validation_failed', message: `The body nests deeper than ${MAX_DEPTH} levels.` };

/** By its first bytes, whatever the headers say: no JSON begins like this, and one SDK labels gzip as a form. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function unpack(bytes: Buffer, limit: number): Unpacked | Promise<Unpacked> {
  const options = { maxOutputLength: limit };
  if (bytes.length > UNPACK_INLINE_BYTES) {
    return gunzipLater(bytes, options).then(
      (unpacked) => ({ ok: true as const, bytes: unpacked }),
      (error: unknown) => unpackFault(error),
    );
  }
  try {
    return { ok: true, bytes: gunzipSync(bytes, options) };
  } catch (error) {
    return unpackFault(error);
  }
}
function unpackFault(error: unknown): Unpacked {
  const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
  return { ok: false, refusal: tooLarge ? TOO_LARGE : BAD_GZIP };
}

export function parseBody(bytes: Buffer, batch = false): Parsed {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return { ok: false, refusal: NOT_UTF8 };
  const items = batch ? itemsOf(bytes, 'batch', MAX_DEPTH) : undefined;
  if (items === 'too_deep' || (!batch && nestsDeeperThan(bytes, MAX_DEPTH))) return { ok: false, refusal: TOO_DEEP };
  try {
    return { ok: true, value: JSON.parse(bytes.toString(ascii ? 'latin1' : 'utf8')), items };
  } catch {
    return { ok: false, refusal: NOT_JSON };
  }
}
