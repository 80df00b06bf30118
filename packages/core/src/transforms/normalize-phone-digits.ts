import { defineTransform } from './define.ts';
import { DEFAULT_COUNTRY, e164, nationalNumber } from './phone.ts';
import { isHashed } from './values.ts';

export const normalizePhoneDigits = defineTransform({
  name: 'normalize_phone_digits',
  summary: 'A telephone number as digits with its country code and no plus (Meta, Snap, Pinterest, Amazon, Microsoft).',
  args: [DEFAULT_COUNTRY, { name: 'national', type: 'boolean', default: false, summary: 'whether the country code is left out (Rokt)' }],
  cost: { value: 600, character: 16 },
  examples: [
    ['+1 415 555 2671', '14155552671'],
    ['0151 23456789', '4915123456789', 'DE'],
    ['4915123456789', '4915123456789', 'DE'],
    ['(650)555-1212', '16505551212', 'US'],
    ['(650)555-1212', '6505551212', 'US', true],
    ['+49 (0)151 234-56789', '15123456789', '', true],
    ['c'.repeat(64), 'c'.repeat(64)],
    [12, undefined],
  ],
  apply(value, [country, national]) {
    if (isHashed(value)) return value;
    return national === true ? nationalNumber(value, country) : e164(value, country)?.slice(1);
  },
});
