import { defineTransform } from './define.ts';
import { plainEmail } from './normalize-email.ts';
import { isHashed } from './values.ts';

export const canonicalEmail = defineTransform({
  name: 'canonical_email',
  summary: 'As normalize_email, and without dots and `+tag` before the @ whatever the domain, as Reddit asks.',
  cost: { value: 600, character: 16 },
  examples: [
    ['Anna.B+shop@example.com', 'annab@example.com'],
    ['+tag@example.com', undefined],
    ['nobody', undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const [local = '', domain] = plainEmail(value)?.split('@') ?? [];
    const bare = local.split('+')[0]?.replaceAll('.', '');
    return bare && domain ? `${bare}@${domain}` : undefined;
  },
});
