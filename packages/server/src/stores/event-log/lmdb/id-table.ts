/**
 * Digests of ids with the time each was noted, outside the JavaScript heap. Tens of thousands of strings in a Map would dominate a full
 * garbage collection, which blocks every request. Open addressing by the leading bits of the digest, so that slot order is nearly digest
 * order. Nothing is ever removed: a table is filled, moved to the tree and discarded.
 */
export const DIGEST = 20;
/** A slot with this time is free. */
const FREE = 0;
/** The id was noted by a commit that failed, so it counts as expired. */
const NEVER = Number.NEGATIVE_INFINITY;

export class IdTable {
  #bits: number;
  #digests: Buffer;
  #times: Float64Array;
  size = 0;

  /** Starts with 2^`bits` slots. */
  constructor(bits: number) {
    this.#bits = bits;
    this.#digests = Buffer.alloc(DIGEST << bits);
    this.#times = new Float64Array(1 << bits);
  }
  get places(): number {
    return this.#times.length;
  }

  /** The time it was noted. `digest` has one character per byte. */
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

  /** The entry in a slot, or undefined if the slot is free. The returned bytes are a view into the table. */
  at(place: number): { digest: Buffer; time: number } | undefined {
    const time = this.#times[place]!;
    return time === FREE ? undefined : { digest: this.#digests.subarray(place * DIGEST, (place + 1) * DIGEST), time };
  }

  /** The digest's slot, or the free slot where it would go. */
  #placeOf(digest: string): number {
    const last = this.#times.length - 1;
    const lead = (digest.charCodeAt(0) << 16) | (digest.charCodeAt(1) << 8) | digest.charCodeAt(2);
    let place = lead >>> (24 - this.#bits);
    while (this.#times[place] !== FREE && !this.#holds(place, digest)) place = place === last ? 0 : place + 1;
    return place;
  }
  #holds(place: number, digest: string): boolean {
    const from = place * DIGEST;
    // Neighbours share the leading bytes, so compare from the end.
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
