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

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export function sha256Bytes(input: string | Uint8Array): Uint8Array {
  return sha256(bytesOf(input));
}

type TextDigest = (text: string) => string;
let sha256Text: TextDigest = (text) => toHex(sha256Bytes(text));

/**
 * The host may have a SHA-256 that is several times as fast as one in JavaScript. It must give the same result: the digest of the text
 * in UTF-8, in lower-case hex, with a lone surrogate as the replacement character.
 */
export function useNativeSha256(digest: TextDigest): void {
  sha256Text = digest;
}

export function sha256Hex(input: string | Uint8Array): string {
  return typeof input === 'string' ? sha256Text(input) : toHex(sha256Bytes(input));
}

export function md5Hex(input: string | Uint8Array): string {
  return toHex(md5(bytesOf(input)));
}

export function hmacSha256(key: string | Uint8Array, message: string | Uint8Array): Uint8Array {
  return hmac(sha256, bytesOf(key), bytesOf(message));
}

export function hmacSha1(key: string | Uint8Array, message: string | Uint8Array): Uint8Array {
  return hmac(sha1, bytesOf(key), bytesOf(message));
}
