/** Fields and variants that brokers, streams and queues share. */
import type { ConfigField, Variant } from '@firsthand/core/vendor/definition.ts';
import { optionalSecret, optionalText, select } from './fields.ts';

/** For destinations that keep the order of records with one key. */
export const VISITOR_ORDER: ConfigField = {
  ...select(
    'delivery_order',
    'Delivery order',
    ['visitor', 'user', 'lane', 'none'],
    'visitor: the events of a visitor are sent one after the other and wait for retries. none is faster and may swap events at a retry.',
  ),
};

export const EVERY_EVENT: Variant[] = [
  { key: 'default', name: 'Default', description: 'Every event as it is, as JSON.', default_config: {} },
];

const PEM = { multiline: true } as const;

/** `tls`, with the settings of a private authority and of a client certificate. */
export function tlsFields(help: string): ConfigField[] {
  return [
    select('tls', 'TLS', ['verify', 'require', 'disable'], help),
    optionalSecret(
      'ca',
      'CA certificate',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      'In PEM form; only for a private certificate authority.',
      PEM,
    ),
    optionalSecret(
      'certificate',
      'Client certificate',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      'In PEM form; only for brokers that ask for one.',
      PEM,
    ),
    optionalSecret(
      'private_key',
      'Client key',
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----',
      'The key of the client certificate, in PEM form.',
      PEM,
    ),
  ];
}

export const CREDENTIALS: ConfigField[] = [
  optionalText('username', 'User name', 'firsthand', 'Of an account that may only write to this target.'),
  optionalSecret('password', 'Password', 's3cret', 'Of that account.'),
];

/** The driver's settings that `tlsFields` and `CREDENTIALS` fill. */
export const TLS_CONNECTION = {
  tls: '{{parameters.tls}}',
  ca: '{{parameters.ca}}',
  certificate: '{{parameters.certificate}}',
  private_key: '{{parameters.private_key}}',
};
export const CREDENTIALS_CONNECTION = { username: '{{parameters.username}}', password: '{{parameters.password}}' };
