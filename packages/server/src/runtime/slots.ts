/** Whatever can stand in `Slots`; it knows its own place, -1 where it has none. */
export interface Slotted {
  slot: number;
}

/**
 * A set of objects that come and go by the thousand. A `Set` makes a new table every few of them, and each old table still points to what
 * stood in it and to the next one: once one of them has reached the old space, all that follow are kept until a full collection.
 */
export class Slots<T extends Slotted> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }
  add(one: T): void {
    one.slot = this.#all.length;
    this.#all.push(one);
  }
  /** False where it is not in here. */
  remove(one: T): boolean {
    const { slot } = one;
    if (this.#all[slot] !== one) return false;
    one.slot = -1;
    const last = this.#all.pop()!;
    if (last !== one) {
      this.#all[slot] = last;
      last.slot = slot;
    }
    return true;
  }
  /** All that are in here now, whatever happens to them while they are looked at. */
  all(): T[] {
    return this.#all.slice();
  }
}
