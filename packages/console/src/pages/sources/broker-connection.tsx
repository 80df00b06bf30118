/** The fields with which a source connects to its broker. Their labels are the terms of the brokers. */
import { PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMay } from '../../session/use-session.ts';

interface Field {
  name: string;
  label: string;
  help?: string;
  placeholder?: string;
  options?: readonly string[];
  several_lines?: true;
  /** Shown only while this holds. */
  when?: (connection: Connection) => boolean;
}
export type Connection = Readonly<Record<string, string>>;
export interface BrokerValues {
  connection: Connection;
  signing_secret: string;
}

const TLS: readonly Field[] = [
  { name: 'tls', label: 'TLS', options: ['verify', 'require', 'disable'], help: 'require encrypts without checking the certificate.' },
  {
    name: 'ca',
    label: 'Certificate authority',
    help: 'In PEM form, if the system does not know it.',
    several_lines: true,
    when: ({ tls }) => tls !== 'disable',
  },
];

export const BROKERS = {
  kafka: {
    label: 'Kafka or Redpanda',
    secret: 'Password',
    needsSecret: ({ sasl_mechanism }: Connection) => (sasl_mechanism ?? 'none') !== 'none',
    defaults: { tls: 'verify', sasl_mechanism: 'none' },
    fields: [
      { name: 'brokers', label: 'Brokers', placeholder: 'kafka-1.example.com:9093, kafka-2.example.com:9093' },
      { name: 'topic', label: 'Topic', placeholder: 'orders' },
      { name: 'group', label: 'Consumer group', help: 'Empty makes one for this source.' },
      ...TLS,
      { name: 'sasl_mechanism', label: 'SASL mechanism', options: ['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] },
      { name: 'username', label: 'User name', when: ({ sasl_mechanism }) => (sasl_mechanism ?? 'none') !== 'none' },
    ],
  },
  nats: {
    label: 'NATS JetStream',
    secret: 'Password, token or credentials file',
    needsSecret: ({ authentication }: Connection) => (authentication ?? 'none') !== 'none',
    defaults: { tls: 'verify', authentication: 'none' },
    fields: [
      { name: 'url', label: 'Servers', placeholder: 'tls://nats.example.com:4222' },
      { name: 'stream', label: 'Stream', placeholder: 'ORDERS' },
      { name: 'subject', label: 'Subject', help: 'Empty reads the whole stream.' },
      { name: 'durable', label: 'Durable consumer', help: 'Empty makes one for this source.' },
      ...TLS,
      { name: 'authentication', label: 'Authentication', options: ['none', 'password', 'token', 'credentials'] },
      { name: 'username', label: 'User name', when: ({ authentication }) => authentication === 'password' },
    ],
  },
  sqs: {
    label: 'Amazon SQS',
    secret: 'Secret access key',
    needsSecret: (_connection: Connection) => true,
    defaults: {},
    fields: [
      { name: 'queue_url', label: 'Queue URL', placeholder: 'https://sqs.eu-central-1.amazonaws.com/123456789012/orders' },
      { name: 'region', label: 'Region', placeholder: 'eu-central-1' },
      { name: 'access_key_id', label: 'Access key ID' },
      { name: 'endpoint', label: 'Endpoint', help: 'Only for a service that is compatible with SQS.' },
    ],
  },
} as const satisfies Record<string, BrokerForm>;
export type BrokerKind = keyof typeof BROKERS;

interface BrokerForm {
  label: string;
  secret: string;
  needsSecret: (connection: Connection) => boolean;
  defaults: Connection;
  fields: readonly Field[];
}

export const isBroker = (kind: string): kind is BrokerKind => Object.hasOwn(BROKERS, kind);

/** What is sent to the API: neither empty fields nor those that are not shown. */
export function connectionOf(kind: BrokerKind, values: Connection): Connection {
  const { fields }: BrokerForm = BROKERS[kind];
  return Object.fromEntries(
    fields.flatMap(({ name, when }) => {
      const value = values[name]?.trim() ?? '';
      return value === '' || when?.(values) === false ? [] : [[name, value]];
    }),
  );
}

/** The names of the fields that are shown, as the form has them. */
export function connectionFields(kind: BrokerKind, connection: Connection): string[] {
  const { fields, needsSecret }: BrokerForm = BROKERS[kind];
  const shown = fields.filter(({ when }) => when?.(connection) !== false).map(({ name }) => `connection.${name}`);
  return needsSecret(connection) ? [...shown, 'signing_secret'] : shown;
}

export function ConnectionFields<Values extends BrokerValues>(props: {
  kind: BrokerKind;
  form: UseFormReturnType<Values>;
  /** Whether a secret is stored already, so that an empty one keeps it. */
  stored: boolean;
}) {
  const { kind, form, stored } = props;
  const { fields, needsSecret, secret }: BrokerForm = BROKERS[kind];
  const { connection } = form.values;
  const maySetSecret = useMay('admin') || !stored;
  return (
    <>
      {fields
        .filter(({ when }) => when?.(connection) !== false)
        .map(({ name, label, help, placeholder, options, several_lines }) => {
          const input = { label, description: help, ...form.getInputProps(`connection.${name}`) };
          if (options !== undefined) return <Select key={name} allowDeselect={false} data={[...options]} {...input} />;
          if (several_lines) return <Textarea key={name} autosize minRows={2} maxRows={8} classNames={{ input: 'mono' }} {...input} />;
          return <TextInput key={name} placeholder={placeholder} {...input} />;
        })}
      {needsSecret(connection) && (
        <PasswordInput
          label={secret}
          description={maySetSecret ? (stored ? 'Empty keeps the stored one.' : undefined) : 'A new one needs the role admin.'}
          disabled={!maySetSecret}
          autoComplete="off"
          {...form.getInputProps('signing_secret')}
        />
      )}
    </>
  );
}
