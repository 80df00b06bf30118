import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

const US_ZIP_PLUS_FOUR = /^(\d{5})-?\d{4}$/;

export const normalizeZip = defineTransform({
  name: 'normalize_zip',
  summary: 'A postal code in lower case without spaces and dashes; of a US ZIP+4 the first five digits.',
  cost: { value: 600, character: 16 },
  examples: [
    ['94301-1234', '94301'],
    ['SW1A 1AA', 'sw1a1aa'],
    [10115, '10115'],
    ['', undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const text = textOf(value)?.toLowerCase().replace(/\s/g, '');
    if (!text) return undefined;
    return US_ZIP_PLUS_FOUR.exec(text)?.[1] ?? (text.replaceAll('-', '') || undefined);
  },
});
