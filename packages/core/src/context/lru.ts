/**
 * A bounded map that evicts entries not used recently. It always keeps at least the most recently used half of its limit. Writes and
 * hits go to the newer of two maps; when it reaches half the limit, it replaces the older one. (Moving an entry to the end of a single
 * map on every use is slower: a Map does not reuse deleted slots, so it rebuilds its table every few uses.)
 */
export class Lru<K, V> {
  #newer = new Map<K, V>();
  #older = new Map<K, V>();
  readonly #half: number;
  readonly #onEvicted: ((entries: ReadonlyMap<K, V>) => void) | undefined;

  constructor(limit: number, onEvicted?: (entries: ReadonlyMap<K, V>) => void) {
    this.#half = Math.max(1, limit >> 1);
    this.#onEvicted = onEvicted;
  }
  get size(): number {
    return this.#newer.size + this.#older.size;
  }
  *values(): Generator<V> {
    yield* this.#older.values();
    yield* this.#newer.values();
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
    const evicted = this.#older;
    this.#older = this.#newer;
    this.#newer = new Map();
    if (evicted.size > 0) this.#onEvicted?.(evicted);
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
