import { endOfNumber, isLongNumber } from './scan-json.ts';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

export interface Items {
  /**
   * Start and end offset of each item, alternating. Both are 0 for an item that is neither an object nor a list. Undefined if the key
   * is written with escapes or has no list.
   */
  items: number[] | undefined;
  /** There are more than `maxItems` items; the offsets of the rest are not recorded. */
  tooMany: boolean;
  /** Same meaning as in `scanJson`, for the whole text. */
  longNumbers: boolean;
}

/**
 * Finds the offsets of the items of a top-level list in JSON text, so that each event of a batch can be stored byte for byte. Checks
 * depth and numbers in the same pass, as `scanJson` does for a single event. The result is meaningless for text that is not JSON.
 */
export function itemsOf(json: Uint8Array, key: string, maxDepth: number, maxItems = Number.POSITIVE_INFINITY): Items | 'too_deep' {
  let items: number[] | undefined;
  let wanted = false;
  let depth = 0;
  let keyFrom = 0;
  let keyEnd = 0;
  let itemFrom = 0;
  let found = false;
  let escaped = false;
  let longNumbers = false;
  let tooMany = false;
  const length = json.length;
  for (let i = 0; i < length; i++) {
    const byte = json[i] as number;
    if (byte === QUOTE) {
      const from = i + 1;
      for (i++; i < length; i++) {
        const inside = json[i];
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) i++;
      }
      if (depth === 1) {
        keyFrom = from;
        keyEnd = i;
      }
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (depth === 1 && byte === OPEN_LIST) {
        // The last string at this depth is the list's key.
        escaped ||= json.subarray(keyFrom, keyEnd).includes(BACKSLASH);
        wanted = spells(json, keyFrom, keyEnd, key);
        if (wanted) items = [];
        found = false;
      } else if (depth === 2) itemFrom = i;
      if (++depth > maxDepth) return 'too_deep';
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--;
      if (depth === 2 && wanted) {
        items?.push(itemFrom, i + 1);
        found = true;
      } else if (depth === 1 && wanted) {
        if (!found) items?.push(0, 0);
        wanted = false;
      }
    } else if (byte === COMMA) {
      if (depth !== 2 || !wanted) continue;
      if (items !== undefined && items.length > 2 * maxItems) {
        tooMany = true;
        wanted = false;
        continue;
      }
      if (!found) items?.push(0, 0);
      found = false;
    } else if (byte >= 48 && byte <= 57) {
      const end = endOfNumber(json, i + 1);
      longNumbers ||= isLongNumber(json, i, end);
      i = end - 1;
    }
  }
  return { items: escaped ? undefined : items, tooMany, longNumbers };
}

function spells(json: Uint8Array, from: number, end: number, key: string): boolean {
  if (end - from !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (json[from + i] !== key.charCodeAt(i)) return false;
  return true;
}
