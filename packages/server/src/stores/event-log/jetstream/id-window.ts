/**
 * The ids of the last minutes with the place where each was first seen, outside the JavaScript heap. Time slices, each an open-addressing
 * table of 64-bit hashes; a slice that is older than the window is dropped as a whole.
 */
const SLICES = 4;
/** Bounds memory: about 30 MB. */
export const MOST_IDS = 1_000_000;
const FIRST_BITS = 8;
const HASH_BYTES = 8;

export class IdWindow {
  readonly #windowMs: number;
  readonly #mostIds: number;
  #slices: { start: number; table: Table }[] = [];
  #size = 0;

  /** With more than `mostIds` ids, the oldest slice is dropped early. */
  constructor(windowMs: number, mostIds = MOST_IDS) {
    this.#windowMs = windowMs;
    this.#mostIds = mostIds;
  }

  /** The place under which the hash at `offset` was added first inside the window before `now`. */
  get(hashes: Buffer, offset: number, now: number): number | undefined {
    this.#drop(now);
    const high = hashes.readUInt32LE(offset);
    const low = hashes.readUInt32LE(offset + 4);
    for (const { table } of this.#slices) {
      const place = table.get(high, low);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  add(hashes: Buffer, offset: number, place: number, time: number): void {
    let last = this.#slices.at(-1);
    if (last === undefined || time >= last.start + this.#windowMs / SLICES || last.table.size >= this.#mostIds / SLICES) {
      last = { start: time, table: new Table() };
      this.#slices.push(last);
      this.#drop(time);
    }
    last.table.set(hashes.readUInt32LE(offset), hashes.readUInt32LE(offset + 4), place);
    this.#size++;
    if (this.#size > this.#mostIds && this.#slices.length > 1) this.#dropOldest();
  }

  /** Adds every hash of a message; `placeOf` gives the place of each. Messages may come in any order: the lowest place of a hash counts. */
  addAll(hashes: Buffer, placeOf: (index: number) => number, time: number): void {
    for (let index = 0; (index + 1) * HASH_BYTES <= hashes.length; index++) {
      const [offset, place] = [index * HASH_BYTES, placeOf(index)];
      const known = this.get(hashes, offset, time);
      if (known === undefined) this.add(hashes, offset, place, time);
      else if (place < known) this.#lower(hashes, offset, place);
    }
  }

  #lower(hashes: Buffer, offset: number, place: number): void {
    const [high, low] = [hashes.readUInt32LE(offset), hashes.readUInt32LE(offset + 4)];
    for (const { table } of this.#slices) if (table.get(high, low) !== undefined) table.set(high, low, place);
  }

  #drop(now: number): void {
    while (this.#slices[0] !== undefined && this.#slices[0].start + this.#windowMs / SLICES < now - this.#windowMs) this.#dropOldest();
  }
  #dropOldest(): void {
    this.#size -= this.#slices.shift()?.table.size ?? 0;
  }
}

class Table {
  #mask = (1 << FIRST_BITS) - 1;
  #hashes = new Uint32Array(2 << FIRST_BITS);
  /** Place plus one; 0 is free. */
  #places = new Float64Array(1 << FIRST_BITS);
  size = 0;

  get(high: number, low: number): number | undefined {
    const place = this.#places[this.#slotOf(high, low)] ?? 0;
    return place === 0 ? undefined : place - 1;
  }
  set(high: number, low: number, place: number): void {
    const slot = this.#slotOf(high, low);
    if (this.#places[slot] === 0) this.size++;
    this.#hashes[2 * slot] = high;
    this.#hashes[2 * slot + 1] = low;
    this.#places[slot] = place + 1;
    if (this.size * 4 > this.#places.length * 3) this.#grow();
  }
  /** The hash's slot, or the free one where it would go. */
  #slotOf(high: number, low: number): number {
    let slot = low & this.#mask;
    while (this.#places[slot] !== 0 && (this.#hashes[2 * slot] !== high || this.#hashes[2 * slot + 1] !== low))
      slot = (slot + 1) & this.#mask;
    return slot;
  }
  #grow(): void {
    const [hashes, places] = [this.#hashes, this.#places];
    this.#mask = this.#mask * 2 + 1;
    this.#hashes = new Uint32Array(2 * (this.#mask + 1));
    this.#places = new Float64Array(this.#mask + 1);
    for (const [slot, place] of places.entries()) {
      if (place === 0) continue;
      const [high, low] = [hashes[2 * slot] ?? 0, hashes[2 * slot + 1] ?? 0];
      const to = this.#slotOf(high, low);
      this.#hashes[2 * to] = high;
      this.#hashes[2 * to + 1] = low;
      this.#places[to] = place;
    }
  }
}
