/** The settings with which a source connects to its broker, as the management API checks them. */
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import { isObject } from '@firsthand/core/json.ts';

interface Setting {
  required?: true;
  pattern: RegExp;
  hint: string;
}
const TEXT: Setting = { pattern: /^[^\r\n]{1,1000}$/, hint: 'must be one line of text' };
const PEM: Setting = { pattern: /^\s*-----BEGIN CERTIFICATE-----[\s\S]{1,20000}$/, hint: 'must be a certificate in PEM form' };
/** `nats://user:password@host`. */
const LOGIN_IN_URL = /:\/\/[^\s/,]*@/;
const oneOf = (...values: string[]): Setting => ({
  pattern: new RegExp(`^(${values.join('|')})$`),
  hint: `must be one of ${values.join(', ')}`,
});
const needed = (pattern: RegExp, hint: string): Setting => ({ required: true, pattern, hint });
const TLS = { tls: oneOf('verify', 'require', 'disable'), ca: PEM };

const SETTINGS: Record<Exclude<WebhookSource['kind'], 'webhook'>, Record<string, Setting>> = {
  kafka: {
    brokers: needed(/^\s*[^\s,]+:\d{1,5}(\s*,\s*[^\s,]+:\d{1,5})*\s*$/, 'must be host:port, separated by commas'),
    topic: needed(/^[a-zA-Z0-9._-]{1,249}$/, 'must be the name of a topic'),
    group: { pattern: /^\S{1,255}$/, hint: 'must be 1 to 255 characters without spaces' },
    ...TLS,
    sasl_mechanism: oneOf('none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
    username: TEXT,
  },
  nats: {
    url: needed(/^\s*(nats|tls):\/\/[^\s,]+(\s*,\s*(nats|tls):\/\/[^\s,]+)*\s*$/, 'must be URLs that begin with nats:// or tls://'),
    stream: needed(/^[^\s.*>/\\]{1,255}$/, 'must be the name of a stream'),
    subject: { pattern: /^\S{1,255}$/, hint: 'must be a subject' },
    durable: { pattern: /^[^\s.*>/\\]{1,255}$/, hint: 'must be the name of a consumer' },
    ...TLS,
    authentication: oneOf('none', 'password', 'token', 'credentials'),
    username: TEXT,
  },
  sqs: {
    queue_url: needed(/^https?:\/\/\S+\/\d{12}\/[\w-]{1,80}(\.fifo)?$/, 'must be the URL of a queue'),
    region: needed(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1'),
    access_key_id: needed(/^[\w-]{3,128}$/, 'must be an access key id'),
    endpoint: { pattern: /^https?:\/\/\S+$/, hint: 'must be a URL' },
  },
};

export function checkConnection({ kind, connection }: Record<string, unknown>, fault: (field: string, message: string) => void): void {
  const given = connection !== undefined && connection !== null;
  if (kind === undefined || kind === 'webhook') {
    if (given && kind === 'webhook') fault('connection', 'must be null for a source of the kind webhook');
    return;
  }
  const settings = Object.hasOwn(SETTINGS, String(kind)) ? SETTINGS[kind as keyof typeof SETTINGS] : undefined;
  if (settings === undefined) {
    fault('kind', `must be one of webhook, ${Object.keys(SETTINGS).join(', ')}`);
    return;
  }
  if (!isObject(connection)) {
    fault('connection', `is required for a source of the kind ${String(kind)}`);
    return;
  }
  for (const [name, { required, pattern, hint }] of Object.entries(settings)) {
    const value = Object.hasOwn(connection, name) ? connection[name] : undefined;
    if (value === undefined) {
      if (required) fault(`connection.${name}`, 'is required');
    } else if (typeof value !== 'string' || !pattern.test(value)) fault(`connection.${name}`, hint);
    // The connection is shown to viewers; only the secret is sealed.
    else if (LOGIN_IN_URL.test(value))
      fault(`connection.${name}`, 'must not carry a user name or password: use username and signing_secret');
  }
  for (const name of Object.keys(connection)) if (!Object.hasOwn(settings, name)) fault(`connection.${name}`, 'is unknown');
}

/** Whether the source cannot connect without a secret of its own. */
export function needsSecret({ kind, connection }: Pick<WebhookSource, 'kind' | 'connection'>): boolean {
  if (kind === 'kafka') return (connection?.sasl_mechanism ?? 'none') !== 'none';
  if (kind === 'nats') return (connection?.authentication ?? 'none') !== 'none';
  return kind === 'sqs';
}
