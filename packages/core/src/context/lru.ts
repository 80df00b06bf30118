/**
 * A bounded map that forgets what was not used for long: at least the half of its limit that was used last is known. It has two parts;
 * when the newer one has grown to its half, it becomes the older one, whose entries come back when they are used. (Moving an
 * entry to the end of one map at each use would make a new table every few uses, for a map does not reuse the places of the gone.)
 */
export class Lru<K, V> {
  #newer = new Map<K, V>();
  #older = new Map<K, V>();
  readonly #half: number;

  constructor(limit: number) {
    this.#half = Math.max(1, limit >> 1);
  }
  get size(): number {
    return this.#newer.size + this.#older.size;
  }
  get(key: K): V | undefined {
    const known = this.#newer.get(key);
    if (known !== undefined) return known;
    const value = this.#older.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
  set(key: K, value: V): void {
    this.#older.delete(key);
    this.#newer.set(key, value);
    if (this.#newer.size < this.#half) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }
  delete(key: K): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }
  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }
}
