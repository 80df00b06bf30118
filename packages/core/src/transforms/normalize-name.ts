import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

export const normalizeName = defineTransform({
  name: 'normalize_name',
  summary: 'A first or last name, trimmed, in lower case, with single spaces; without punctuation where a vendor asks for that (Meta).',
  args: [{ name: 'without_punctuation', type: 'boolean', default: false, summary: 'whether only letters, digits and spaces stay' }],
  examples: [
    ['  Anna   Maria ', 'anna maria'],
    ['ÅSE', 'åse'],
    ["O'Neil-Smith", "o'neil-smith"],
    ["O'Neil-Smith", 'oneilsmith', true],
    [' ', undefined],
  ],
  apply(value, [withoutPunctuation]) {
    if (isHashed(value)) return value;
    const text = textOf(value)?.toLowerCase();
    const kept = withoutPunctuation === true ? text?.replace(/[^\p{L}\p{M}\p{N}\s]/gu, '') : text;
    return kept?.trim().replace(/\s+/g, ' ') || undefined;
  },
});
