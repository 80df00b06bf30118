/**
 * A 52-bit hash of an id, for indexes. An entry takes a fifth of the space of the id itself, and comparing numbers is cheap. It is not
 * unique: every query compares the id as well.
 */
export function keyOf(id: string): number {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995);
    low ^= low >>> 15;
  }
  high = Math.imul(high ^ (high >>> 16) ^ low, 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 13) ^ high, 0x27d4eb2f);
  return ((high ^ (high >>> 15)) >>> 12) * 4_294_967_296 + ((low ^ (low >>> 16)) >>> 0);
}
