import { defineTransform } from './define.ts';
import { plainEmail } from './normalize-email.ts';
import { isHashed } from './values.ts';

export const canonicalEmail = defineTransform({
  name: 'canonical_email',
  summary:
    'As normalize_email, and without dots and `+tag` before the @ whatever the domain, as Reddit asks; also without accents, as Microsoft asks.',
  args: [{ name: 'without_accents', type: 'boolean', default: false, summary: 'whether ä becomes a' }],
  cost: { value: 600, character: 16 },
  examples: [
    ['Anna.B+shop@example.com', 'annab@example.com'],
    ['+tag@example.com', undefined],
    ['nobody', undefined],
    ['Zoé.Müller+shop@exämple.com', 'zoemuller@example.com', true],
    ['zoé@example.com', 'zoé@example.com'],
  ],
  apply(value, [withoutAccents]) {
    if (isHashed(value)) return value;
    const email = plainEmail(value);
    const plain = withoutAccents === true ? email?.normalize('NFD').replace(/\p{M}/gu, '') : email;
    const [local = '', domain] = plain?.split('@') ?? [];
    const bare = local.split('+')[0]?.replaceAll('.', '');
    return bare && domain ? `${bare}@${domain}` : undefined;
  },
});
