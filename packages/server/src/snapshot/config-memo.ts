import type { JsonObject } from '@firsthand/core/json.ts';

/**
 * Results that follow from a config and `key` alone, kept as long as the config's object. The loader gives the integrations of one revision
 * the same object, so thousands of them are compiled once. Configs must never be changed in place.
 */
export class ConfigMemo<T> {
  readonly #results = new WeakMap<JsonObject, Map<string, T>>();

  get(config: JsonObject, key: string): T | undefined {
    return this.#results.get(config)?.get(key);
  }
  set(config: JsonObject, key: string, result: T): T {
    const known = this.#results.get(config);
    if (known === undefined) this.#results.set(config, new Map([[key, result]]));
    else known.set(key, result);
    return result;
  }
}
