import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

const ADDRESS = /^[^@\s]+@[^@\s]+$/;

export function plainEmail(value: unknown): string | undefined {
  const text = textOf(value)?.trim().toLowerCase();
  return text !== undefined && ADDRESS.test(text) ? text : undefined;
}

export const normalizeEmail = defineTransform({
  name: 'normalize_email',
  summary:
    'An e-mail address, trimmed, in lower case; what is no address is missing. An already hashed value passes, unless `plain` is set.',
  args: [{ name: 'plain', type: 'boolean', default: false, summary: 'whether a hash is missing, for vendors that write to the address' }],
  cost: { value: 600, character: 16 },
  examples: [
    [' Anna@Example.COM ', 'anna@example.com'],
    ['not an address', undefined],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['a'.repeat(64), undefined, true],
    ['Anna@Example.com', 'anna@example.com', true],
  ],
  apply: (value, [plain]) => (isHashed(value) && plain !== true ? value : plainEmail(value)),
});
