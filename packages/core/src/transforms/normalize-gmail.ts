import { defineTransform } from './define.ts';
import { plainEmail } from './normalize-email.ts';
import { isHashed } from './values.ts';

export const normalizeGmail = defineTransform({
  name: 'normalize_gmail',
  summary: 'As normalize_email; for gmail.com and googlemail.com also without the dots before the @, as Google asks.',
  examples: [
    ['Anna.B@gmail.com', 'annab@gmail.com'],
    ['an.na@googlemail.com', 'anna@googlemail.com'],
    ['anna.b@example.com', 'anna.b@example.com'],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const email = plainEmail(value);
    const [local, domain] = email?.split('@') ?? [];
    if (domain !== 'gmail.com' && domain !== 'googlemail.com') return email;
    const bare = local?.replaceAll('.', '');
    return bare ? `${bare}@${domain}` : undefined;
  },
});
