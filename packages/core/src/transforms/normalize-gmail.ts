import { defineTransform } from './define.ts';
import { plainEmail } from './normalize-email.ts';
import { isHashed, textOf } from './values.ts';

export const normalizeGmail = defineTransform({
  name: 'normalize_gmail',
  summary:
    'As normalize_email, and as Google asks: no spaces inside, and for gmail.com and googlemail.com neither dots nor a `+tag` before the @.',
  args: [{ name: 'keep_tag', type: 'boolean', default: false, summary: 'whether a `+tag` stays' }],
  cost: { value: 600, character: 16 },
  examples: [
    ['Cloudy.SanFrancisco+shopping@gmail.com', 'cloudysanfrancisco@gmail.com'],
    ['Cloudy.SanFrancisco+shopping@gmail.com', 'cloudysanfrancisco+shopping@gmail.com', true],
    ['an.na@googlemail.com', 'anna@googlemail.com'],
    ['User.Name+NYC@Example.com', 'user.name+nyc@example.com'],
    [' a nna@example.com', 'anna@example.com'],
    ['+tag@gmail.com', undefined],
    ['nobody', undefined],
  ],
  apply(value, [keepTag]) {
    if (isHashed(value)) return value;
    const email = plainEmail(textOf(value)?.replace(/\s/g, ''));
    const [local = '', domain] = email?.split('@') ?? [];
    if (domain !== 'gmail.com' && domain !== 'googlemail.com') return email;
    const [name = '', ...tag] = local.replaceAll('.', '').split('+');
    const bare = keepTag === true && name !== '' ? [name, ...tag].join('+') : name;
    return bare ? `${bare}@${domain}` : undefined;
  },
});
