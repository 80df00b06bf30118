/** An element of `Slots`. `slot` is its index, or -1. */
export interface Slotted {
  slot: number;
}

/**
 * A set for objects that are added and removed thousands of times per second. A `Set` reallocates its table often, and each old
 * table references the next one. Once one of them is in V8's old space, all later ones stay until a full garbage collection.
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
  /** Returns whether it was present. */
  remove(one: T): boolean {
    const { slot } = one;
    if (this.#all[slot] !== one) return false;
    one.slot = -1;
    const last = this.#all.pop();
    if (last !== undefined && last !== one) {
      this.#all[slot] = last;
      last.slot = slot;
    }
    return true;
  }
  /** A copy, so that elements may be removed while iterating. */
  all(): T[] {
    return this.#all.slice();
  }
}
