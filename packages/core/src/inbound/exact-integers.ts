/**
 * Numbers of a webhook body that would not survive as a double. The rule is the one for events (`exact-numbers.ts`), with one
 * exception: an integer becomes a string, digit for digit. Providers use such integers as ids and cannot be asked to send
 * strings, and rounding would turn one customer's id into another's. Any other such number rejects the webhook.
 */
import { isExactNumber, MAX_LONG_NUMBERS } from '../event/exact-numbers.ts';
import { replaceLongNumbers } from '../event/long-numbers.ts';
import type { Json } from '../json.ts';

const INTEGER = /^-?\d+$/;

/** Expects valid JSON. Quotes integers in the text and parses the result: a reviver would be called for every value, 400 ms for 1 MB. */
export function withExactIntegers(json: Uint8Array): { ok: true; value: Json } | { ok: false } {
  let long = 0;
  let exact = true;
  const quoted = replaceLongNumbers(json, (source) => {
    if (++long > MAX_LONG_NUMBERS) exact = false;
    if (!exact) return undefined;
    // Safe integers only: beyond them even an exact number has neighbours that share its double.
    if (INTEGER.test(source)) return Number.isSafeInteger(Number(source)) ? undefined : `"${source}"`;
    exact = isExactNumber(source);
    return undefined;
  });
  return exact ? { ok: true, value: JSON.parse(quoted) as Json } : { ok: false };
}
