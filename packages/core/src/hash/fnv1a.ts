const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * FNV-1a over UTF-16 units, 32 bits. For keys that every process and version must sort alike, and not against anybody who chooses them.
 * `seed`: the hash of what comes before.
 */
export function fnv1a(text: string, seed = OFFSET): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash >>> 0;
}

/** Spreads a hash over all of its bits: those of FNV-1a are weak on short keys that differ in their last character. */
export function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
