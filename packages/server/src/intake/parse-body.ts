/** Untrusted bytes to a JSON value: unpacked size, encoding and depth are checked before anything is built. */
import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { itemsOf } from '@firsthand/core/event/batch-items.ts';
import { nestsDeeperThan } from '@firsthand/core/event/depth.ts';
import type { Rejection } from '../http/collection-reply.ts';

export const MAX_DEPTH = 64;
/** Larger bodies are unpacked on a worker thread, so that other requests go on. */
const UNPACK_INLINE_BYTES = 8_192;
const gunzipAsync = promisify(gunzip);

/** `items`: where each event of a batch begins and ends, in turn. */
export type Parsed = { ok: true; value: unknown; items?: number[] | undefined } | { ok: false; rejection: Rejection };
export type Unpacked = { ok: true; bytes: Buffer } | { ok: false; rejection: Rejection };

const TOO_LARGE: Rejection = { code: 'payload_too_large' };
const NOT_JSON: Rejection = { code: 'invalid_json' };
const NOT_UTF8: Rejection = { code: 'invalid_json', message: 'The body is not valid UTF-8.' };
const BAD_GZIP: Rejection = { code: 'invalid_json', message: 'The body is not valid gzip.' };
const TOO_DEEP: Rejection = { code: 'validation_failed', message: `The body nests deeper than ${MAX_DEPTH} levels.` };

/** By the first bytes, whatever the headers say: no JSON begins with these, and one SDK labels gzip as a form. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function unpack(bytes: Buffer, limit: number): Unpacked | Promise<Unpacked> {
  const options = { maxOutputLength: limit };
  if (bytes.length > UNPACK_INLINE_BYTES) {
    return gunzipAsync(bytes, options).then(
      (unpacked) => ({ ok: true as const, bytes: unpacked }),
      (error: unknown) => unpackFailure(error),
    );
  }
  try {
    return { ok: true, bytes: gunzipSync(bytes, options) };
  } catch (error) {
    return unpackFailure(error);
  }
}
function unpackFailure(error: unknown): Unpacked {
  const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
  return { ok: false, rejection: tooLarge ? TOO_LARGE : BAD_GZIP };
}

export function parseBody(bytes: Buffer, batch = false): Parsed {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return { ok: false, rejection: NOT_UTF8 };
  const items = batch ? itemsOf(bytes, 'batch', MAX_DEPTH) : undefined;
  if (items === 'too_deep' || (!batch && nestsDeeperThan(bytes, MAX_DEPTH))) return { ok: false, rejection: TOO_DEEP };
  try {
    return { ok: true, value: JSON.parse(bytes.toString(ascii ? 'latin1' : 'utf8')), items };
  } catch {
    return { ok: false, rejection: NOT_JSON };
  }
}
