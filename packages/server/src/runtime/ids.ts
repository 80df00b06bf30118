import { randomBytes } from 'node:crypto';

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
  return `${prefix}_${time}${chance(16)}`;
}

/** `length` characters of five random bits each. */
export function chance(length: number): string {
  let out = '';
  for (const byte of randomBytes(length)) out += ALPHABET[byte & 31];
  return out;
}
