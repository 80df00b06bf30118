/**
 * Bounds for what expressions, transforms and rules make of an event. Without them a few dozen rules that double a text fill the memory of
 * the process, which all organisations share.
 */

/** Longest text that an expression or a transform makes, in characters. A longer one counts as missing. */
export const MAX_TEXT = 1_048_576;
/** Most that the rules of one transformation, or the steps of one mapping, may write into an event. */
export const MAX_WRITTEN = 4_194_304;
export const WROTE_TOO_MUCH = 'the event became larger than 4 MB';

/** Undefined for a text that is too long. */
export function bounded<T>(value: T): T | undefined {
  return typeof value === 'string' && value.length > MAX_TEXT ? undefined : value;
}

/** The length is known before the text is made. */
export function joined(parts: readonly string[], separator: string): string | undefined {
  let length = separator.length * Math.max(0, parts.length - 1);
  for (const part of parts) length += part.length;
  return length > MAX_TEXT ? undefined : parts.join(separator);
}

/** Roughly the characters of the value's JSON text. Stops counting above `limit`: a value that is used in many places counts in each. */
export function weigh(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 8;
  for (const [key, item] of Object.entries(value)) {
    sum += key.length + weigh(item, limit - sum);
    if (sum > limit) break;
  }
  return sum;
}
