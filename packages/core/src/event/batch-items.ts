const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Where the items of the list under a top-level key begin and end in JSON text, in turns: an event of a batch can be kept as it
 * came, instead of being written anew. Items that are neither objects nor lists count as 0 to 0. Undefined where the key is
 * spelled with escapes, or there is no such list. What it says of text that turns out not to be JSON means nothing.
 *
 * On its way it sees whether the text nests deeper than `maxDepth`, as `nestsDeeperThan` does.
 */
export function itemsOf(json: Uint8Array, key: string, maxDepth: number): number[] | 'too_deep' | undefined {
  let items: number[] | undefined;
  let wanted = false;
  let depth = 0;
  let keyFrom = 0;
  let keyEnd = 0;
  let itemFrom = 0;
  let found = false;
  let escaped = false;
  const length = json.length;
  for (let i = 0; i < length; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) {
      const from = i + 1;
      for (i++; i < length; i++) {
        const inside = json[i]!;
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) i++;
      }
      if (depth === 1) {
        keyFrom = from;
        keyEnd = i;
      }
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (depth === 1 && byte === OPEN_LIST) {
        // The last text at this depth is the list's key.
        escaped ||= json.subarray(keyFrom, keyEnd).includes(BACKSLASH);
        wanted = spells(json, keyFrom, keyEnd, key);
        if (wanted) items = [];
        found = false;
      } else if (depth === 2) itemFrom = i;
      if (++depth > maxDepth) return 'too_deep';
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--;
      if (depth === 2 && wanted) {
        items!.push(itemFrom, i + 1);
        found = true;
      } else if (depth === 1 && wanted) {
        if (!found) items!.push(0, 0);
        wanted = false;
      }
    } else if (byte === COMMA && depth === 2 && wanted) {
      if (!found) items!.push(0, 0);
      found = false;
    }
  }
  return escaped ? undefined : items;
}

function spells(json: Uint8Array, from: number, end: number, key: string): boolean {
  if (end - from !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (json[from + i] !== key.charCodeAt(i)) return false;
  return true;
}
