/** Bloom filter of digests. Digests are already random, so four of their words serve as the four hash values. */
const WORDS = 4;

export class IdFilter {
  readonly #words: Uint32Array;
  readonly #mask: number;
  #added: number;

  /** Has 2^`bits` bit positions; uses an eighth of that in bytes of memory. */
  constructor(bits: number, words: Uint32Array = new Uint32Array(2 ** (bits - 5)), added = 0) {
    this.#words = words;
    this.#mask = 2 ** bits - 1;
    this.#added = added;
  }
  get words(): Uint32Array {
    return this.#words;
  }
  get added(): number {
    return this.#added;
  }
  /** With more than one id per eight positions, the false positive rate exceeds one in forty. */
  get full(): boolean {
    return this.#added * 8 > this.#mask + 1;
  }
  /** The digest that begins at `at`. */
  add(bytes: Uint8Array, at = 0): void {
    this.#added++;
    for (let i = at; i < at + WORDS * 4; i += 4) {
      const place = (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)) & this.#mask;
      this.#words[place >>> 5]! |= 1 << (place & 31);
    }
  }
  /** False means certainly never added. `digest` has one character per byte. */
  mayHold(digest: string): boolean {
    for (let i = 0; i < WORDS * 4; i += 4) {
      const word =
        digest.charCodeAt(i) | (digest.charCodeAt(i + 1) << 8) | (digest.charCodeAt(i + 2) << 16) | (digest.charCodeAt(i + 3) << 24);
      const place = word & this.#mask;
      if ((this.#words[place >>> 5]! & (1 << (place & 31))) === 0) return false;
    }
    return true;
  }
}
