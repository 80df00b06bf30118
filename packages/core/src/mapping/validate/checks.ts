import { isObject } from '../../json.ts';
import type { ConfigFault } from '../../vendor/compiled.ts';
import { coerceTo } from '../parameters/coerce.ts';
import { hasPlaceholder } from '../parameters/placeholder.ts';

/** Collects all faults of a configuration with their paths, so that one response can report them all. */
export class Checks {
  readonly faults: ConfigFault[] = [];

  fault(field: string, message: string): void {
    this.faults.push({ field, message });
  }

  object(value: unknown, where: string, known: readonly string[], what: string): Record<string, unknown> | undefined {
    if (!isObject(value)) {
      this.fault(where, `${what} must be an object.`);
      return undefined;
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.fault(join(where, key), `${what} has no such key; known are ${known.join(', ')}.`);
    }
    return value;
  }

  /** Missing and null count as an empty list. */
  list(value: unknown, where: string, limit: number): unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.fault(where, 'A list is needed.');
      return [];
    }
    if (value.length > limit) {
      this.fault(where, `There may be at most ${limit} entries.`);
      return [];
    }
    return value;
  }

  boolean(value: unknown, where: string, otherwise: boolean): boolean {
    if (value === undefined || value === null || hasPlaceholder(value)) return otherwise;
    const coerced = coerceTo('boolean', value);
    if (typeof coerced === 'boolean') return coerced;
    this.fault(where, 'true or false is needed.');
    return otherwise;
  }

  text(value: unknown, where: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string' && value !== '') return value;
    this.fault(where, 'A non-empty string is needed.');
    return undefined;
  }

  oneOf<T extends string>(value: unknown, where: string, known: readonly T[]): T | undefined {
    if (typeof value === 'string' && (known as readonly string[]).includes(value)) return value as T;
    this.fault(where, `One of ${known.join(', ')} is needed.`);
    return undefined;
  }
}

export function join(where: string, key: string): string {
  return where === '' ? key : `${where}.${key}`;
}
