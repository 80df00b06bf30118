/**
 * A bounded map that evicts entries not used recently. It always keeps at least the most recently used half of its limit. Writes and
 * hits go to the newer of two maps; when it reaches half the limit, it replaces the older one. (Moving an entry to the end of a single
 * map on every use is slower: a Map does not reuse deleted slots, so it rebuilds its table every few uses.)
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
