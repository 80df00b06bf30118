import { defineTransform } from './define.ts';
import { DEFAULT_COUNTRY, e164 } from './phone.ts';
import { isHashed } from './values.ts';

export const normalizePhone = defineTransform({
  name: 'normalize_phone',
  summary: 'A telephone number in E.164 with its plus (Google, TikTok, X, Reddit). Without a country code it needs the default country.',
  args: [
    DEFAULT_COUNTRY,
    { name: 'strict', type: 'boolean', default: false, summary: 'whether a number that its country does not use is missing (Klaviyo)' },
    { name: 'plain', type: 'boolean', default: false, summary: 'whether a hash is missing, for vendors that call the number' },
  ],
  cost: { value: 600, character: 16 },
  examples: [
    ['+49 (0)151 234-56789', '+4915123456789'],
    ['0151 23456789', '+4915123456789', 'DE'],
    ['(415) 555-2671', '+14155552671', 'us'],
    ['0151 23456789', '+4915123456789', 'Germany'],
    ['49 151 23456789', '+4915123456789', 'DE'],
    ['04915 123456', '+494915123456', 'DE'],
    ['00441212345678', '+441212345678'],
    ['14155552671', '+14155552671'],
    ['0151 23456789', undefined],
    ['call me', undefined],
    ['+1 555 123 4567', '+15551234567'],
    ['+1 555 123 4567', undefined, '', true],
    ['(415) 555-2671', '+14155552671', 'US', true],
    ['b'.repeat(64), 'b'.repeat(64)],
    ['b'.repeat(64), undefined, '', false, true],
  ],
  apply: (value, [country, strict, plain]) => (isHashed(value) && plain !== true ? value : e164(value, country, strict === true)),
});
