/**
 * Numbers of a webhook body that would not survive as a double. The rule is the one for events (`exact-numbers.ts`), with one
 * exception: an integer becomes a string, digit for digit. Providers use such integers as ids and cannot be asked to send
 * strings, and rounding would turn one customer's id into another's. Any other such number rejects the webhook.
 */
import { endOfString, isExactNumber, isPlainlyExact, MAX_LONG_NUMBERS } from '@firsthand/core/event/exact-numbers.ts';
import { endOfNumber } from '@firsthand/core/event/scan-json.ts';

const QUOTE = 34;
const MINUS = 45;
/** Every shorter integer is safe. */
const LONG = 16;
const INTEGER = /^-?\d+$/;

/** Expects valid JSON. Quotes integers in the text and parses the result: a reviver would be called for every value, 400 ms for 1 MB. */
export function withExactIntegers(json: Buffer): { ok: true; value: unknown } | { ok: false } {
  const parts: Buffer[] = [];
  let copied = 0;
  let long = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === MINUS || (byte >= 48 && byte <= 57)) {
      const end = endOfNumber(json, at + 1);
      if (end - at >= LONG || !isPlainlyExact(json, at, end)) {
        if (++long > MAX_LONG_NUMBERS) return { ok: false };
        const source = json.toString('latin1', at, end);
        // Safe integers only: beyond them even an exact number has neighbours that share its double.
        if (INTEGER.test(source)) {
          if (!Number.isSafeInteger(Number(source))) {
            parts.push(json.subarray(copied, at), Buffer.from(`"${source}"`));
            copied = end;
          }
        } else if (!isExactNumber(source)) return { ok: false };
      }
      at = end - 1;
    }
  }
  return { ok: true, value: JSON.parse(Buffer.concat([...parts, json.subarray(copied)]).toString()) };
}
