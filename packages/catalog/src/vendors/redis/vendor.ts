import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, text } from '../shared/fields.ts';
import { CREDENTIALS, CREDENTIALS_CONNECTION, EVERY_EVENT, TLS_CONNECTION, tlsFields, VISITOR_ORDER } from '../shared/streams.ts';

export default defineVendor({
  key: 'redis',
  name: 'Redis Streams',
  description: 'Adds events as entries to a stream of Redis or Valkey; an event that comes again is not added twice.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://redis.io/docs/latest/develop/data-types/streams/',
  setup_steps: [
    'Create an ACL user for the stream and its marks: ~firsthand:events ~{firsthand:events}:event:* +xadd +exists +set +script|load +evalsha, and +select for another database than 0.',
    'Turn on appendonly, so that acknowledged entries survive a crash of Redis.',
    'Send an event and read it with XRANGE.',
  ],
  notes: [
    'Exactly once within the deduplication window, at least once beyond it or with a window of 0. Acknowledged entries are as durable as the persistence of the server.',
    'An entry has the fields event_id and data (JSON).',
    'One server, or a proxy in front of a cluster. The client does not follow the redirects of a cluster.',
  ],
  config_fields: [
    text('url', 'URL', 'rediss://redis.example.com:6379/0', 'redis:// or rediss:// (TLS), host, port and database.', {
      pattern: '^rediss?://\\S+$',
      pattern_hint: 'a URL that begins with redis:// or rediss://',
    }),
    ...CREDENTIALS,
    optionalText('stream', 'Stream', 'firsthand:events', 'Key of the stream. It may refer to the event, such as events:{{event.type}}.', {
      default: 'firsthand:events',
    }),
    {
      key: 'deduplication_s',
      label: 'Deduplication window (s)',
      type: 'number',
      required: false,
      placeholder: '3600',
      help_text: 'How long the server remembers an event id: about 100 bytes for each. 0 turns it off.',
      integer: true,
      min: 0,
      max: 604_800,
      default: 3_600,
    },
    {
      key: 'max_length',
      label: 'Maximum length',
      type: 'number',
      required: false,
      placeholder: '1000000',
      help_text: 'Older entries are removed at about this length. Empty: none is removed.',
      integer: true,
      min: 1,
      max: 1_000_000_000,
    },
    ...tlsFields('For rediss://. verify checks the certificate; require encrypts without checking it.'),
    VISITOR_ORDER,
  ],
  transport: {
    kind: 'redis',
    text: true,
    connection: {
      url: '{{parameters.url}}',
      ...CREDENTIALS_CONNECTION,
      ...TLS_CONNECTION,
      deduplication_s: '{{parameters.deduplication_s}}',
      max_length: '{{parameters.max_length}}',
    },
    target: '{{parameters.stream}}',
    batch: { max_items: 500, max_bytes: 4_000_000, interval_ms: 200 },
  },
  default_action: 'pass_through',
  rate: { rps: 500 },
  concurrency: 1,
  variants: EVERY_EVENT,
});
