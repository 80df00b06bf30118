import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

const SHA256_HEX = /^[0-9a-f]{64}$/;

/** SHA-256 of the trimmed, lower-case text; what is such a digest already stays, so that a second pass changes nothing. */
export function hashPii(text: string): string {
  const normal = text.trim().toLowerCase();
  return SHA256_HEX.test(normal) ? normal : sha256Hex(normal);
}

export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
