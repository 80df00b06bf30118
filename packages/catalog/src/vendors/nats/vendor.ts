import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalSecret, optionalText, text } from '../shared/fields.ts';
import { CREDENTIALS, CREDENTIALS_CONNECTION, EVERY_EVENT, TLS_CONNECTION, tlsFields, VISITOR_ORDER } from '../shared/streams.ts';

export default defineVendor({
  key: 'nats',
  name: 'NATS JetStream',
  description: 'Publishes events to a subject of a JetStream stream; the event id is the message id.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.nats.io/nats-concepts/jetstream/streams',
  setup_steps: [
    'Create a stream that takes the subject: nats stream add EVENTS --subjects "events.>".',
    'Set its duplicate window to the longest outage that must not repeat events, for example --dupe-window 1h.',
    'Send an event and read the stream.',
  ],
  notes: [
    'Exactly once within the duplicate window of the stream (two minutes by default), at least once beyond it.',
    'Messages are stored in the order in which they were sent.',
    'A subject without a stream is retried, and the event becomes a dead letter if that does not change.',
  ],
  config_fields: [
    text(
      'url',
      'Servers',
      'nats://nats-1.example.com:4222,nats://nats-2.example.com:4222',
      'One or more servers of the cluster, separated by commas.',
      {
        pattern: '^\\s*(nats|tls)://[^\\s,]+(\\s*,\\s*(nats|tls)://[^\\s,]+)*\\s*$',
        pattern_hint: 'URLs that begin with nats:// or tls://, separated by commas',
      },
    ),
    optionalText(
      'subject',
      'Subject',
      'firsthand.events',
      'It may refer to the event, such as events.{{event.type}}. Values with spaces are refused.',
      {
        default: 'firsthand.events',
      },
    ),
    ...CREDENTIALS,
    optionalSecret('token', 'Token', 's3cret', 'Instead of user name and password.'),
    optionalSecret(
      'credentials',
      'Credentials file',
      '-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------',
      'The content of a .creds file.',
      {
        multiline: true,
      },
    ),
    ...tlsFields('verify checks the certificate; require encrypts without checking it.'),
    VISITOR_ORDER,
  ],
  transport: {
    kind: 'nats',
    text: true,
    connection: {
      url: '{{parameters.url}}',
      ...CREDENTIALS_CONNECTION,
      token: '{{parameters.token}}',
      credentials: '{{parameters.credentials}}',
      ...TLS_CONNECTION,
    },
    target: '{{parameters.subject}}',
    batch: { max_items: 500, max_bytes: 4_000_000, interval_ms: 200 },
  },
  default_action: 'pass_through',
  rate: { rps: 500 },
  concurrency: 1,
  variants: EVERY_EVENT,
});
