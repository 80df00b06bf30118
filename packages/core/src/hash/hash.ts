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

export function sha256Hex(input: string | Uint8Array): string {
  return toHex(sha256Bytes(input));
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
