import type { ReadJson } from '@firsthand/core/config/resource.ts';
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';

/** Lists the unreadable columns of a row. Only that piece is disabled; the others still load. */
export interface MaybeUnreadable {
  unreadable?: ConfigFault[];
}

/** Reads a row's columns one by one and collects a fault for each unreadable one. */
export class RowReader {
  readonly #faults: ConfigFault[] = [];
  read<T>(field: string, read: () => T, fallback: T): T {
    try {
      return read();
    } catch (error) {
      // The message of a JSON error quotes the text, which may be a secret.
      const why = error instanceof SyntaxError ? 'it is not valid JSON' : 'it cannot be decrypted';
      this.#faults.push({ field, message: `The stored value cannot be read: ${why}.` });
      return fallback;
    }
  }
  readonly json: ReadJson = (field, text, fallback) => this.read(field, () => JSON.parse(text), fallback);
  get any(): boolean {
    return this.#faults.length > 0;
  }
  get faults(): readonly ConfigFault[] {
    return this.#faults;
  }
}
export function unreadable(faults: readonly ConfigFault[]): MaybeUnreadable {
  return faults.length > 0 ? { unreadable: [...faults] } : {};
}
