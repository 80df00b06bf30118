/** Untrusted bytes to a JSON value: unpacked size, encoding, depth and number of values are checked before anything is built. */
import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { findInexactNumber, MAX_LONG_NUMBERS, TOO_MANY_LONG_NUMBERS } from '@firsthand/core/event/exact-numbers.ts';
import { LONG_NUMBER, MAX_NODES, scanJson, TOO_DEEP, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import type { Steps } from '@firsthand/core/steps.ts';
import type { Rejection } from '../http/collection-reply.ts';
import { inTurn } from '../runtime/in-turn.ts';

export const MAX_DEPTH = 64;
/** Larger bodies, and those that unpack to more, are unpacked on a worker thread, so that other requests go on. */
const UNPACK_INLINE_BYTES = 8_192;
const MAX_INLINE_OUTPUT = 131_072;
const gunzipAsync = promisify(gunzip);

export type NotParsed = { ok: false; rejection: Rejection };
/** `longNumbers`: some number may not survive as a double; `inexactNumber` decides. */
export type Parsed = { ok: true; value: unknown; longNumbers: boolean } | NotParsed;
export type Unpacked = { ok: true; bytes: Buffer } | NotParsed;

const TOO_LARGE: Rejection = { code: 'payload_too_large' };
const NOT_JSON: Rejection = { code: 'invalid_json' };
const NOT_UTF8: Rejection = { code: 'invalid_json', message: 'The body is not valid UTF-8.' };
const BAD_GZIP: Rejection = { code: 'invalid_json', message: 'The body is not valid gzip.' };
export const NESTS_TOO_DEEP: Rejection = { code: 'validation_failed', message: `The body nests deeper than ${MAX_DEPTH} levels.` };
export const TOO_MANY_VALUES: Rejection = {
  code: 'payload_too_large',
  message: `An event may hold at most ${MAX_NODES} objects, lists and named values.`,
};

/** By the first bytes, whatever the headers say: no JSON begins with these, and one SDK labels gzip as a form. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function unpack(bytes: Buffer, limit: number): Unpacked | Promise<Unpacked> {
  if (bytes.length > UNPACK_INLINE_BYTES) return unpackAside(bytes, limit);
  try {
    return { ok: true, bytes: gunzipSync(bytes, { maxOutputLength: Math.min(limit, MAX_INLINE_OUTPUT) }) };
  } catch (error) {
    return isTooLarge(error) && limit > MAX_INLINE_OUTPUT ? unpackAside(bytes, limit) : unpackFailure(error);
  }
}
function unpackAside(bytes: Buffer, limit: number): Promise<Unpacked> {
  return unpackInTurn(() =>
    gunzipAsync(bytes, { maxOutputLength: limit }).then(
      (unpacked) => ({ ok: true as const, bytes: unpacked }),
      (error: unknown) => unpackFailure(error),
    ),
  );
}
/** Node has four threads for it. More at once would only hold more half unpacked bodies: 5 KB may unpack to 5 MB. */
const unpackInTurn = inTurn(4);
function unpackFailure(error: unknown): Unpacked {
  return { ok: false, rejection: isTooLarge(error) ? TOO_LARGE : BAD_GZIP };
}
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

/** Some clients put a UTF-8 byte order mark before the JSON. JSON begins with no such byte: other bodies cost one comparison. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

export function parseBody(bytes: Buffer): Parsed {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return NOT_TEXT;
  const flags = scanJson(bytes, MAX_DEPTH);
  if (flags === TOO_DEEP) return DEEP;
  if (flags === TOO_MANY) return MANY;
  const parsed = parseText(bytes, encoding);
  return parsed.ok ? { ok: true, value: parsed.value, longNumbers: flags === LONG_NUMBER } : parsed;
}
/** Like `parseBody`, in steps: parsing 1 MB takes up to 30 ms. */
export function* parseBodyInSteps(bytes: Buffer): Steps<Parsed> {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return NOT_TEXT;
  const flags = scanJson(bytes, MAX_DEPTH);
  if (flags === TOO_DEEP) return DEEP;
  if (flags === TOO_MANY) return MANY;
  yield;
  try {
    return { ok: true, value: yield* parseInSteps(bytes.toString(encoding)), longNumbers: flags === LONG_NUMBER };
  } catch {
    return { ok: false, rejection: NOT_JSON };
  }
}
const DEEP: NotParsed = { ok: false, rejection: NESTS_TOO_DEEP };
const MANY: NotParsed = { ok: false, rejection: TOO_MANY_VALUES };

/** ASCII is decoded fastest as Latin-1. */
export type Encoding = 'latin1' | 'utf8';
export const NOT_TEXT: NotParsed = { ok: false, rejection: NOT_UTF8 };
/** Undefined: the bytes are no text. */
export function encodingOf(bytes: Buffer): Encoding | undefined {
  return isAscii(bytes) ? 'latin1' : isUtf8(bytes) ? 'utf8' : undefined;
}

/** `encoding`: of these bytes, or of the body that they are a part of. */
export function parseText(bytes: Buffer, encoding: Encoding): { ok: true; value: unknown } | NotParsed {
  try {
    return { ok: true, value: JSON.parse(bytes.toString(encoding)) };
  } catch {
    return { ok: false, rejection: NOT_JSON };
  }
}

/** Vendors would get another number than the one that was sent: the event is rejected instead. */
export function inexactNumber(bytes: Uint8Array): Rejection | undefined {
  const path = findInexactNumber(bytes);
  if (path === undefined) return undefined;
  if (path === TOO_MANY_LONG_NUMBERS)
    return { code: 'payload_too_large', message: `An event may hold at most ${MAX_LONG_NUMBERS} numbers of more than 15 digits.` };
  const message = `${path === '' ? 'The body' : path} is a number that cannot be kept exactly: send it as a string.`;
  return { code: 'validation_failed', message };
}
