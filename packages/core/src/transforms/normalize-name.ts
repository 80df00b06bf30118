import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

/** Characters that each form removes. */
const FORMS: Record<string, RegExp | undefined> = {
  words: /[^\p{L}\p{M}\p{N}\s]/gu,
  letters: /[^\p{L}\p{M}\s]/gu,
  joined: /[^\p{L}\p{M}\p{N}]/gu,
};

export const normalizeName = defineTransform({
  name: 'normalize_name',
  summary:
    'A first or last name, trimmed, in lower case, with single spaces. `words`: without symbols; `letters`: without digits and symbols (Google Analytics); `joined`: without symbols and spaces (Meta).',
  args: [{ name: 'form', type: 'string', default: 'plain', summary: 'plain, words, letters or joined' }],
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
  ],
  apply: (value, [form]) => normalized(value, FORMS[String(form)]),
  prepare([form]) {
    const name = String(form);
    if (name !== 'plain' && !Object.hasOwn(FORMS, name)) return { ok: false, message: 'form is plain, words, letters or joined.' };
    return { ok: true, apply: (value) => normalized(value, FORMS[name]) };
  },
});

function normalized(value: unknown, leaveOut: RegExp | undefined): unknown {
  if (isHashed(value)) return value;
  const text = textOf(value)?.toLowerCase();
  const kept = leaveOut ? text?.replace(leaveOut, '') : text;
  return kept?.trim().replace(/\s+/g, ' ') || undefined;
}
