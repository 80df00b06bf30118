/** Names of tables and columns: from a property to what a destination accepts. */
import { sha256Hex } from '../hash/hash.ts';
import { utf8Length } from '../vendor/bytes.ts';

export interface NameRules {
  max: number;
  unit: 'bytes' | 'characters';
  /** Written in this case, so that queries need no quotes. */
  fold?: 'lower' | 'upper';
  /** Names that differ only in case are one name. */
  insensitive: boolean;
  /** Characters that a name may not have; each becomes `_`. */
  replaced?: RegExp;
  /** Names that the destination keeps for itself; they get the prefix `x_`. */
  refused?: RegExp;
}

const WORDS = /[A-Z0-9]+[a-z0-9]*|[a-z0-9]+/g;
const NOT_ASCII = /[^\x20-\x7e]/;
const MARKS = /\p{M}+/gu;

/**
 * Segment's form: `accountType` and `Account Type` are `account_type`, `v2` stays. Accents are removed. A name with other
 * letters gets a hash, because two of them could look the same without those letters.
 */
export function snakeCase(name: string): string {
  const known = snakes.get(name);
  if (known !== undefined) return known;
  const plain = NOT_ASCII.test(name) ? name.normalize('NFKD').replace(MARKS, '') : name;
  const words = (plain.match(WORDS) ?? []).join('_').toLowerCase();
  const lost = /[^\P{L}A-Za-z]/u.test(plain) || words === '';
  const made = lost ? `${words === '' ? 'x' : words}_${hash8(name)}` : words;
  remember(snakes, name, made);
  return made;
}
const snakes = new Map<string, string>();

/** The name as the destination stores it. Names that are too long end with a hash of the whole name. */
export function fitName(name: string, rules: NameRules): string {
  let fits = fitted.get(rules);
  if (!fits) fitted.set(rules, (fits = new Map()));
  const known = fits.get(name);
  if (known !== undefined) return known;
  const made = fit(name, rules);
  remember(fits, name, made);
  return made;
}
const fitted = new WeakMap<NameRules, Map<string, string>>();

function fit(name: string, { max, unit, fold, replaced, refused }: NameRules): string {
  let made = name.toWellFormed().replaceAll('\0', '');
  if (replaced) made = made.replace(replaced, '_');
  if (made === '') made = '_';
  if (fold) made = fold === 'lower' ? made.toLowerCase() : made.toUpperCase();
  if (refused?.test(made)) made = `${fold === 'upper' ? 'X_' : 'x_'}${made}`;
  const size = (text: string) => (unit === 'bytes' ? utf8Length(text) : text.length);
  if (size(made) <= max) return made;
  const hash = fold === 'upper' ? hash8(name).toUpperCase() : hash8(name);
  let cut = made.slice(0, max - 9);
  while (size(cut) > max - 9) cut = cut.slice(0, -1);
  return `${cut.toWellFormed() === cut ? cut : cut.slice(0, -1)}_${hash}`;
}

/** What makes two names one at the destination. */
export function nameKey(name: string, { insensitive }: NameRules): string {
  return insensitive ? name.toLowerCase() : name;
}

export function hash8(text: string): string {
  return sha256Hex(text).slice(0, 8);
}

const MAX_REMEMBERED = 20_000;
/** Property names repeat from event to event. A flood of new names starts the memory anew. */
function remember(memory: Map<string, string>, name: string, made: string): void {
  if (name.length > 200) return;
  if (memory.size >= MAX_REMEMBERED) memory.clear();
  memory.set(name, made);
}
