import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
export type IdPrefix =
  | 'org'
  | 'usr'
  | 'pl'
  | 'tpl'
  | 'rev'
  | 'int'
  | 'trf'
  | 'whs'
  | 'bld'
  | 'dlq'
  | 'aud'
  | 'rpl'
  | 'bat'
  | 'ses'
  | 'apt'
  | 'tc'
  | 'alr';

/** `pl_` and 26 characters: 48 bits of time, then 80 random bits. Ids sort by creation time. */
export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  let time = '';
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time;
  return `${prefix}_${time}${randomText(16)}`;
}

/** Random bytes for many ids: a buffer for each would cost more than the id. */
const random = new Uint8Array(4_096);
let used = random.length;

/** `length` characters of five random bits each. */
export function randomText(length: number): string {
  let out = '';
  for (let i = 0; i < length; i++) {
    if (used === random.length) {
      randomFillSync(random);
      used = 0;
    }
    out += ALPHABET[random[used++]! & 31];
  }
  return out;
}
