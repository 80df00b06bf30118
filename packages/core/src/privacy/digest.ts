import { sha256Hex } from '../hash/hash.ts';

export const REDACTED = '[redacted]';
const SHA256_HEX = /^[0-9a-f]{64}$/;

/** SHA-256 of the trimmed, lower-case text. A text that is such a digest already stays as it is: hashing twice changes nothing. */
export function hashPii(text: string): string {
  const normal = text.trim().toLowerCase();
  return SHA256_HEX.test(normal) ? normal : sha256Hex(normal);
}

/** One event may hash this many values, about 5 µs each. Beyond that values are redacted: nothing stays readable, nothing stalls. */
const MAX_HASHES = 2_000;

export class HashBudget {
  #left = MAX_HASHES;

  get exhausted(): boolean {
    return this.#left < 0;
  }
  hash(text: string): string {
    this.#left -= 1;
    return this.#left < 0 ? REDACTED : hashPii(text);
  }
}
