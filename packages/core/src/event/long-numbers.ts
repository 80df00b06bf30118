/** Numbers in JSON text that may not survive as a double. They are replaced in the text, because parsing would round them. */
import { endOfString, isPlainlyExact } from './exact-numbers.ts';
import { endOfNumber } from './scan-json.ts';

const QUOTE = 34;
const MINUS = 45;
/** Every shorter integer is safe. */
const LONG = 16;
const decoder = new TextDecoder();

/** Expects valid JSON. `replace` gets each long number and returns the JSON text for it, or undefined to leave it. */
export function replaceLongNumbers(json: Uint8Array, replace: (source: string) => string | undefined): string {
  let text = '';
  let copied = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === MINUS || (byte >= 48 && byte <= 57)) {
      const end = endOfNumber(json, at + 1);
      if (end - at >= LONG || !isPlainlyExact(json, at, end)) {
        const replaced = replace(decoder.decode(json.subarray(at, end)));
        if (replaced !== undefined) {
          text += decoder.decode(json.subarray(copied, at)) + replaced;
          copied = end;
        }
      }
      at = end - 1;
    }
  }
  return text + decoder.decode(json.subarray(copied));
}
