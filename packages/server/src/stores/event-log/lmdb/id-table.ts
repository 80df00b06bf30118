/**
 * Digests of ids and when each was noted, outside the JavaScript heap: tens of thousands of strings in a map are most of what a
 * full collection has to look at, and every request waits for it. Open addressing by the leading bits of the digest, so that the
 * places in their order hold the digests nearly in theirs. Nothing is ever removed: a table is filled, emptied elsewhere and
 * thrown away.
 */
export const DIGEST = 20;
/** No time at all: the place is free. */
const FREE = 0;
/** The id was noted by a commit that failed: as long ago as can be. */
const NEVER = Number.NEGATIVE_INFINITY;

export class IdTable {
  #bits: number;
  #digests: Buffer;
  #times: Float64Array;
  size = 0;

  /** With 2 to the power of `bits` places to begin with. */
  constructor(bits: number) {
    this.#bits = bits;
    this.#digests = Buffer.alloc(DIGEST << bits);
    this.#times = new Float64Array(1 << bits);
  }
  get places(): number {
    return this.#times.length;
  }

  /** When it was noted; `digest` has a character for each byte. */
  get(digest: string): number | undefined {
    const time = this.#times[this.#placeOf(digest)]!;
    return time === FREE ? undefined : time;
  }
  set(digest: string, time: number): void {
    const place = this.#placeOf(digest);
    if (this.#times[place] === FREE) {
      this.size++;
      this.#digests.write(digest, place * DIGEST, 'latin1');
    }
    this.#times[place] = time;
    if (this.size * 4 > this.places * 3) this.#grow();
  }
  unset(digest: string): void {
    const place = this.#placeOf(digest);
    if (this.#times[place] !== FREE) this.#times[place] = NEVER;
  }

  /** What is at a place; undefined where it is free. The bytes are the table's own. */
  at(place: number): { digest: Buffer; time: number } | undefined {
    const time = this.#times[place]!;
    return time === FREE ? undefined : { digest: this.#digests.subarray(place * DIGEST, (place + 1) * DIGEST), time };
  }

  /** Where it is, or the free place where it would be. */
  #placeOf(digest: string): number {
    const last = this.#times.length - 1;
    const lead = (digest.charCodeAt(0) << 16) | (digest.charCodeAt(1) << 8) | digest.charCodeAt(2);
    let place = lead >>> (24 - this.#bits);
    while (this.#times[place] !== FREE && !this.#holds(place, digest)) place = place === last ? 0 : place + 1;
    return place;
  }
  #holds(place: number, digest: string): boolean {
    const from = place * DIGEST;
    // Neighbours share the leading bytes, so the difference is found sooner from behind.
    for (let i = DIGEST - 1; i >= 0; i--) if (this.#digests[from + i] !== digest.charCodeAt(i)) return false;
    return true;
  }
  #grow(): void {
    const digests = this.#digests;
    const times = this.#times;
    this.#bits++;
    this.#digests = Buffer.alloc(DIGEST << this.#bits);
    this.#times = new Float64Array(1 << this.#bits);
    for (let place = 0; place < times.length; place++) {
      if (times[place] === FREE) continue;
      const digest = digests.toString('latin1', place * DIGEST, (place + 1) * DIGEST);
      const to = this.#placeOf(digest);
      this.#digests.write(digest, to * DIGEST, 'latin1');
      this.#times[to] = times[place]!;
    }
  }
}
