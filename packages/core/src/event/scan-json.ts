/**
 * Scans the bytes of JSON text once before parsing: nesting depth, number of values, and numbers that a double may not hold exactly.
 * The result is meaningless for bytes that are not JSON.
 */
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;

/** The text nests deeper than allowed. The scan stopped there. */
export const TOO_DEEP = 1;
/** More than `MAX_NODES` objects, lists and named values. The scan stopped there. */
export const TOO_MANY = 2;
/** A number has 16 characters or more, or an exponent. `findInexactNumber` decides whether it is exact. */
export const LONG_NUMBER = 4;

/** V8 needs up to 1.3 µs to build one node. A real event of 1 MB has about 30,000. */
export const MAX_NODES = 50_000;
/** A number without an exponent that is shorter than this survives a round trip through a double. */
const LONG = 16;

/** Returns a combination of the flags above, or 0. */
export function scanJson(bytes: Uint8Array, maxDepth: number): number {
  const { length } = bytes;
  let depth = 0;
  let nodes = 0;
  let flags = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      for (i++; i < length; i++) {
        const inside = bytes[i];
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) i++;
      }
    } else if (byte >= 91) {
      // `[` 91 and `{` 123 open, `]` 93 and `}` 125 close. The letters of true, false and null are in this range too.
      if (byte === 123 || byte === 91) {
        if (++depth > maxDepth) return TOO_DEEP;
        if (++nodes > MAX_NODES) return TOO_MANY;
      } else if (byte === 125 || byte === 93) depth--;
    } else if (byte >= 48 && byte <= COLON) {
      if (byte === COLON) {
        if (++nodes > MAX_NODES) return TOO_MANY;
      } else {
        const end = endOfNumber(bytes, i + 1);
        if (isLongNumber(bytes, i, end)) flags = LONG_NUMBER;
        i = end - 1;
      }
    }
  }
  return flags;
}

/** End offset of the number (digits, points, signs, exponent) that began before `from`. */
export function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte !== undefined && isNumberByte(byte); byte = bytes[at]) at += 1;
  return at;
}
function isNumberByte(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || byte === 46 || byte === 101 || byte === 69 || byte === 43 || byte === 45;
}
/** Whether a double may not hold the number exactly. */
export function isLongNumber(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from >= LONG) return true;
  for (let i = from; i < to; i++) if ((bytes[i] as number) >= 69) return true;
  return false;
}
