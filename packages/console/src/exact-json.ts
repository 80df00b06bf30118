import { findInexactNumber } from '@firsthand/core/event/exact-numbers.ts';

/** Parses JSON that a person typed. Throws if a number would be sent as another one. */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const path = findInexactNumber(new TextEncoder().encode(text));
  if (path === undefined) return value;
  throw new Error(`${typeof path === 'string' && path !== '' ? path : 'A number'} cannot be kept exactly: write it as a string.`);
}
