/** Google services that sign in with the JSON key of a service account. */
import type { ConfigField } from '@firsthand/core/vendor/definition.ts';
import { secret, text } from './fields.ts';

export const SERVICE_ACCOUNT_FIELDS: ConfigField[] = [
  text('client_email', 'Service account', 'firsthand@acme.iam.gserviceaccount.com', 'client_email in the JSON key.', {
    pattern: '^[^@\\s]+@[^@\\s]+\\.gserviceaccount\\.com$',
    pattern_hint: 'an address that ends in gserviceaccount.com',
  }),
  secret(
    'private_key',
    'Private key',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----',
    'private_key in the JSON key.',
    {
      multiline: true,
      pattern: '^\\s*(?:•|-----BEGIN (?:RSA )?PRIVATE KEY-----)',
      pattern_hint: 'a private key in PEM form (-----BEGIN PRIVATE KEY-----)',
    },
  ),
];
