import { hmac } from '@noble/hashes/hmac.js';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';

const encoder = new TextEncoder();
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function bytesOf(input: string | Uint8Array): Uint8Array {
  return typeof input === 'string' ? encoder.encode(input) : input;
}

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

function sha256Bytes(input: string | Uint8Array): Uint8Array {
  return sha256(bytesOf(input));
}

/** What a host may do several times as fast as JavaScript. The results must be the same: a large body is hashed in one step. */
export interface NativeBytes {
  /** In lower-case hex. A text is hashed in UTF-8, with a lone surrogate as the replacement character. */
  sha256(input: string | Uint8Array): string;
  hmacSha256(key: Uint8Array, parts: readonly Uint8Array[]): Uint8Array;
  base64(bytes: Uint8Array): string;
}

export const IN_JAVASCRIPT: NativeBytes = {
  sha256: (input) => toHex(sha256Bytes(input)),
  hmacSha256(key, parts) {
    const mac = hmac.create(sha256, key);
    for (const part of parts) mac.update(part);
    return mac.digest();
  },
  base64(bytes) {
    let binary = '';
    for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(binary);
  },
};
let host = IN_JAVASCRIPT;

export function useNativeBytes(native: NativeBytes): void {
  host = native;
}

export function sha256Hex(input: string | Uint8Array): string {
  return host.sha256(input);
}

/** Of all parts as one message. */
export function hmacSha256(key: string | Uint8Array, ...parts: (string | Uint8Array)[]): Uint8Array {
  return host.hmacSha256(bytesOf(key), parts.map(bytesOf));
}

export function toBase64(bytes: Uint8Array): string {
  return host.base64(bytes);
}

export function md5Hex(input: string | Uint8Array): string {
  return toHex(md5(bytesOf(input)));
}

export function hmacSha1(key: string | Uint8Array, message: string | Uint8Array): Uint8Array {
  return hmac(sha1, bytesOf(key), bytesOf(message));
}
