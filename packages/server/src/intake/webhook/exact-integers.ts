/**
 * Numbers of a webhook body that would not survive as a double. The rule is the one for events (`exact-numbers.ts`), with one
 * exception: an integer becomes a string, digit for digit. Providers use such integers as ids and cannot be asked to send
 * strings, and rounding would turn one customer's id into another's. Any other such number rejects the webhook.
 */
import { isExactNumber } from '@firsthand/core/event/exact-numbers.ts';

const INTEGER = /^-?\d+$/;

export function withExactIntegers(text: string): { ok: true; value: unknown } | { ok: false } {
  let ok = true;
  const value: unknown = JSON.parse(text, (_key, each: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof each !== 'number' || source === undefined) return each;
    // Safe integers only: beyond them even an exact number has neighbours that share its double.
    if (INTEGER.test(source)) return Number.isSafeInteger(each) ? each : source;
    if (!isExactNumber(source)) ok = false;
    return each;
  });
  return ok ? { ok, value } : { ok };
}
