/** A Bloom filter of digests, which are random already: four of their words are the four places. */
const WORDS = 4;

export class IdFilter {
  readonly #words: Uint32Array;
  readonly #mask: number;
  #added = 0;

  /** With 2 to the power of `bits` places, in memory an eighth of that. */
  constructor(bits: number) {
    this.#words = new Uint32Array(2 ** (bits - 5));
    this.#mask = 2 ** bits - 1;
  }
  /** With more than one id for eight places it says yes too often, to more than one in forty strange ids. */
  get full(): boolean {
    return this.#added * 8 > this.#mask + 1;
  }
  add(digest: Uint8Array): void {
    this.#added++;
    for (let i = 0; i < WORDS * 4; i += 4) {
      const place = (digest[i]! | (digest[i + 1]! << 8) | (digest[i + 2]! << 16) | (digest[i + 3]! << 24)) & this.#mask;
      this.#words[place >>> 5]! |= 1 << (place & 31);
    }
  }
  /** False: it was surely never added. `digest` has a character for each byte. */
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
