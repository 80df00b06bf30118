import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

/** Characters that each form removes. */
const FORMS: Record<string, RegExp | undefined> = {
  words: /[^\p{L}\p{M}\p{N}\s]/gu,
  letters: /[^\p{L}\p{M}\s]/gu,
  joined: /[^\p{L}\p{M}\p{N}]/gu,
};

/** What Google's own formatter removes, and nothing else: googleads/data-manager-java, UserDataFormatter. */
const GOOGLE_FORMS: Record<string, ((name: string) => string) | undefined> = {
  given: (name) => name.replace(/(?:mr|mrs|ms|dr)\.(?:\s|$)/g, ''),
  family: withoutSuffixes,
};
const SUFFIXES: ReadonlySet<string> = new Set(
  ['jr.', 'sr.', '2nd', '3rd', 'ii', 'iii', 'iv', 'v', 'vi'].concat('cpa dc dds vm jd md phd'.split(' ')),
);
const SEPARATOR = /[\s,]/;

/** A loop, because a pattern that searches for spaces before the end of a text takes quadratic time on a text of spaces. */
function withoutSuffixes(name: string): string {
  let end = name.length;
  for (let at = end - 1; at > 0; at--) {
    if (!SEPARATOR.test(name.charAt(at))) continue;
    if (at + 1 < end && !SUFFIXES.has(name.slice(at + 1, end))) break;
    end = at;
  }
  return name.slice(0, end);
}

export const normalizeName = defineTransform({
  name: 'normalize_name',
  summary:
    'A first or last name, trimmed, in lower case, with single spaces. `words`: without symbols; `letters`: without digits and symbols (Google Analytics); `joined`: without symbols and spaces (Meta); `given`: without Mrs. and the like, `family`: without Jr. and the like, both with symbols and inner spaces as they are (Google Data Manager).',
  args: [{ name: 'form', type: 'string', default: 'plain', summary: 'plain, words, letters, joined, given or family' }],
  cost: { value: 600, character: 16 },
  examples: [
    ['  Anna   Maria ', 'anna maria'],
    ['ÅSE', 'åse'],
    ["O'Neil-Smith", "o'neil-smith"],
    ["Mary Ann O'Neil", 'mary ann oneil', 'words'],
    ['12 Main St.', '12 main st', 'words'],
    ['Anna 2nd', 'anna nd', 'letters'],
    ["Mary Ann O'Neil", 'maryannoneil', 'joined'],
    ['d'.repeat(64), 'd'.repeat(64), 'joined'],
    [' ', undefined],
    ['-', undefined, 'joined'],
    [' Mrs. Anna-Maria ', 'anna-maria', 'given'],
    ["O'Neil, Jr., DDS", "o'neil", 'family'],
    ['Ivy', 'ivy', 'family'],
    ['Dr.', undefined, 'given'],
  ],
  apply: (value, [form]) => formed(value, String(form)),
  prepare([form]) {
    const name = String(form);
    if (name !== 'plain' && !Object.hasOwn(FORMS, name) && !Object.hasOwn(GOOGLE_FORMS, name))
      return { ok: false, message: 'form is plain, words, letters, joined, given or family.' };
    return { ok: true, apply: (value) => formed(value, name) };
  },
});

function formed(value: unknown, form: string): unknown {
  const withoutTitles = GOOGLE_FORMS[form];
  if (!withoutTitles) return normalized(value, FORMS[form]);
  if (isHashed(value)) return value;
  const name = textOf(value)?.trim().toLowerCase();
  return name === undefined ? undefined : withoutTitles(name).trim() || undefined;
}

function normalized(value: unknown, leaveOut: RegExp | undefined): unknown {
  if (isHashed(value)) return value;
  const text = textOf(value)?.toLowerCase();
  const kept = leaveOut ? text?.replace(leaveOut, '') : text;
  return kept?.trim().replace(/\s+/g, ' ') || undefined;
}
