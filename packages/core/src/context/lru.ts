/** A bounded map that forgets what was used longest ago. */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }
  get size(): number {
    return this.#entries.size;
  }
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }
  set(key: K, value: V): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#limit) this.#entries.delete(this.#entries.keys().next().value as K);
    this.#entries.set(key, value);
  }
  delete(key: K): void {
    this.#entries.delete(key);
  }
  clear(): void {
    this.#entries.clear();
  }
}
