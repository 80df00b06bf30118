import { replaceLongNumbers } from '@firsthand/core/event/long-numbers.ts';
import { randomText } from '../runtime/ids.ts';

/** Prefix of a number that is a string for a moment. Random, so that no client can send it. */
const MARK = `number-${randomText(16)}:`;
const MARKED = new RegExp(`"${MARK}([-+.0-9eE]+)"`, 'g');

/** Changes a JSON text as a value and keeps the digits of its numbers. Expects valid JSON. To `change`, long numbers are strings. */
export function changeJsonText(json: Buffer, change: (value: unknown) => unknown): string {
  const value: unknown = JSON.parse(replaceLongNumbers(json, (source) => `"${MARK}${source}"`));
  return JSON.stringify(change(value)).replace(MARKED, '$1').replaceAll(MARK, '');
}
