import { asNumber } from '../../filter/compare.ts';

export type CoercionType = 'string' | 'secret' | 'select' | 'number' | 'boolean';

/**
 * Parameters are texts. Converts the text for fields of another type. A text that does not convert is returned unchanged, so that
 * validation can reject it under the field's own name.
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
