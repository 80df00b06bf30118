import { asNumber } from '../../filter/compare.ts';

export type CoercionType = 'string' | 'secret' | 'select' | 'number' | 'boolean';

/**
 * Parameters are texts; a field of another type takes what the text stands for. What does not read as that type comes back as it is,
 * so that validation can refuse it under the field's own name.
 */
export function coerceTo(type: CoercionType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'number') return asNumber(value) ?? value;
  if (type === 'boolean') {
    const word = value.trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : value;
  }
  return value;
}
