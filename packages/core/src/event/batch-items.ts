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
  const scan = new ItemScan(json, key, maxDepth, maxItems);
  scan.run(json.length);
  return scan.result();
}

/** The scan in steps, for a text that would block the event loop in one go. */
export class ItemScan {
  readonly #json: Uint8Array;
  readonly #key: string;
  readonly #maxDepth: number;
  readonly #maxItems: number;
  #at = 0;
  #inString = false;
  #items: number[] | undefined;
  #wanted = false;
  #depth = 0;
  #keyFrom = 0;
  #keyEnd = 0;
  #itemFrom = 0;
  #found = false;
  #escaped = false;
  #longNumbers = false;
  #tooMany = false;

  constructor(json: Uint8Array, key: string, maxDepth: number, maxItems: number) {
    this.#json = json;
    this.#key = key;
    this.#maxDepth = maxDepth;
    this.#maxItems = maxItems;
  }
  get tooMany(): boolean {
    return this.#tooMany;
  }
  get tooDeep(): boolean {
    return this.#depth > this.#maxDepth;
  }
  result(): Items | 'too_deep' {
    if (this.tooDeep) return 'too_deep';
    return { items: this.#escaped ? undefined : this.#items, tooMany: this.#tooMany, longNumbers: this.#longNumbers };
  }

  /** Scans on to the offset `to`; a number may take it further. Fields are copied to locals, which the loop reads much faster. */
  run(to: number): void {
    if (this.tooDeep) return;
    const json = this.#json;
    const length = Math.min(to, json.length);
    let inString = this.#inString;
    let keyFrom = this.#keyFrom;
    let keyEnd = this.#keyEnd;
    let depth = this.#depth;
    let i = this.#at;
    for (; i < length; i++) {
      const byte = json[i] as number;
      if (inString || byte === QUOTE) {
        if (!inString) {
          if (depth === 1) keyFrom = i + 1;
          i++;
        }
        inString = true;
        for (; i < length; i++) {
          const inside = json[i];
          if (inside === QUOTE) {
            inString = false;
            break;
          }
          if (inside === BACKSLASH) i++;
        }
        if (inString) break;
        if (depth === 1) keyEnd = i;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (depth === 1 && byte === OPEN_LIST) {
          // The last string at this depth is the list's key.
          this.#escaped ||= json.subarray(keyFrom, keyEnd).includes(BACKSLASH);
          this.#wanted = spells(json, keyFrom, keyEnd, this.#key);
          if (this.#wanted) this.#items = [];
          this.#found = false;
        } else if (depth === 2) this.#itemFrom = i;
        if (++depth > this.#maxDepth) break;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        depth--;
        if (depth <= 2 && this.#wanted) this.#closed(depth, i);
      } else if (byte === COMMA) {
        if (depth === 2 && this.#wanted) this.#comma();
      } else if (byte >= 48 && byte <= 57) {
        const end = endOfNumber(json, i + 1);
        this.#longNumbers ||= isLongNumber(json, i, end);
        i = end - 1;
      }
    }
    this.#at = i;
    this.#inString = inString;
    this.#keyFrom = keyFrom;
    this.#keyEnd = keyEnd;
    this.#depth = depth;
  }

  #closed(depth: number, at: number): void {
    if (depth === 2) {
      this.#items?.push(this.#itemFrom, at + 1);
      this.#found = true;
    } else if (depth === 1) {
      if (!this.#found) this.#items?.push(0, 0);
      this.#wanted = false;
    }
  }
  #comma(): void {
    if (this.#items !== undefined && this.#items.length > 2 * this.#maxItems) {
      this.#tooMany = true;
      this.#wanted = false;
      return;
    }
    if (!this.#found) this.#items?.push(0, 0);
    this.#found = false;
  }
}

function spells(json: Uint8Array, from: number, end: number, key: string): boolean {
  if (end - from !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (json[from + i] !== key.charCodeAt(i)) return false;
  return true;
}
