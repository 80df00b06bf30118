import { parseExactly } from '../exact-json.ts';

/**
 * A JSON value in one text field. `12`, `true` and `{"a": 1}` are what they look like, everything else is a text. Quotes make a text of what
 * would be something else: `"12"`. A number that would lose digits is a text, with all of them.
 */
export function readLoose(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}
export function writeLoose(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' && readLoose(value) === value ? value : JSON.stringify(value);
}

/** Several values with commas between them, or a JSON list. */
export function readLooseList(text: string): unknown[] {
  const whole = text.trimStart().startsWith('[') ? readLoose(text) : undefined;
  if (Array.isArray(whole)) return whole;
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(readLoose);
}
export function writeLooseList(value: unknown): string {
  if (!Array.isArray(value)) return writeLoose(value);
  const text = value.map(writeLoose).join(', ');
  return isSameJson(readLooseList(text), value) ? text : JSON.stringify(value);
}

export const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
