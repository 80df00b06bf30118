const QUOTE = 34;
const BACKSLASH = 92;

/** Whether JSON text nests deeper than `max`, told from its bytes alone: nothing is built from a depth bomb. */
export function nestsDeeperThan(bytes: Uint8Array, max: number): boolean {
  let depth = 0;
  const length = bytes.length;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      for (i++; i < length; i++) {
        const inside = bytes[i]!;
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) i++;
      }
    } else if (byte >= 91) {
      // `[` 91 and `{` 123 open, `]` 93 and `}` 125 close; what else lies here are letters of true, false and null.
      if (byte === 123 || byte === 91) {
        if (++depth > max) return true;
      } else if (byte === 125 || byte === 93) depth--;
    }
  }
  return false;
}
