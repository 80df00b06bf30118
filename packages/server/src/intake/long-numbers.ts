/** Numbers in JSON text that may not survive as a double. They are replaced in the text, because parsing would round them. */
import { endOfString, isPlainlyExact } from '@firsthand/core/event/exact-numbers.ts';
import { endOfNumber } from '@firsthand/core/event/scan-json.ts';
import { randomText } from '../runtime/ids.ts';

const QUOTE = 34;
const MINUS = 45;
/** Every shorter integer is safe. */
const LONG = 16;

/** Expects valid JSON. `replace` gets each long number and returns the JSON text for it, or undefined to leave it. */
export function replaceLongNumbers(json: Buffer, replace: (source: string) => string | undefined): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === MINUS || (byte >= 48 && byte <= 57)) {
      const end = endOfNumber(json, at + 1);
      if (end - at >= LONG || !isPlainlyExact(json, at, end)) {
        const replaced = replace(json.toString('latin1', at, end));
        if (replaced !== undefined) {
          parts.push(json.subarray(copied, at), Buffer.from(replaced));
          copied = end;
        }
      }
      at = end - 1;
    }
  }
  return parts.length === 0 ? json : Buffer.concat([...parts, json.subarray(copied)]);
}

/** Prefix of a number that is a string for a moment. Random, so that no client can send it. */
const MARK = `number-${randomText(16)}:`;
const MARKED = new RegExp(`"${MARK}([-+.0-9eE]+)"`, 'g');

/** Changes a JSON text as a value and keeps the digits of its numbers. Expects valid JSON. To `change`, long numbers are strings. */
export function changeJsonText(json: Buffer, change: (value: unknown) => unknown): string {
  const value: unknown = JSON.parse(replaceLongNumbers(json, (source) => `"${MARK}${source}"`).toString());
  return JSON.stringify(change(value)).replace(MARKED, '$1').replaceAll(MARK, '');
}
