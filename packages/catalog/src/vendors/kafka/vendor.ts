import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, select, text } from '../shared/fields.ts';
import { CREDENTIALS, CREDENTIALS_CONNECTION, EVERY_EVENT, TLS_CONNECTION, tlsFields, VISITOR_ORDER } from '../shared/streams.ts';

export default defineVendor({
  key: 'kafka',
  name: 'Apache Kafka',
  description: 'Produces events to a topic of Kafka, Redpanda, Amazon MSK, Confluent Cloud or Azure Event Hubs, keyed by visitor.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://kafka.apache.org/documentation/#producerapi',
  setup_steps: [
    'Create the topic. Its number of partitions bounds how many consumers can share it.',
    'Create a user that may write to the topic (ACL operations Write and Describe on the topic, IdempotentWrite on the cluster).',
    'Send an event and read the topic from the beginning.',
  ],
  notes: [
    'At least once: the producer is idempotent, so its own retries store nothing twice. After a crash of this service, or a failure that outlasts those retries, records may come again with the same event_id header.',
    'Records of one visitor have the same key, so they share a partition and keep their order.',
    'Azure Event Hubs: SASL PLAIN, the user name $ConnectionString, and the connection string as password; compression none or gzip.',
  ],
  config_fields: [
    text(
      'brokers',
      'Bootstrap brokers',
      'kafka-1.example.com:9093,kafka-2.example.com:9093',
      'host:port of one or more brokers, separated by commas.',
      {
        pattern: '^\\s*[^\\s,]+:\\d{1,5}(\\s*,\\s*[^\\s,]+:\\d{1,5})*\\s*$',
        pattern_hint: 'host:port, separated by commas',
      },
    ),
    optionalText('topic', 'Topic', 'firsthand.events', 'The topic; it may refer to the event, such as events.{{event.type}}.', {
      default: 'events',
    }),
    ...tlsFields('verify checks the certificate; require encrypts without checking it.'),
    select(
      'sasl_mechanism',
      'SASL mechanism',
      ['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'],
      'How the user name and password are checked.',
    ),
    ...CREDENTIALS,
    select('compression', 'Compression', ['none', 'gzip', 'snappy', 'lz4', 'zstd'], 'Of the batches on the wire and in the topic.'),
    VISITOR_ORDER,
  ],
  transport: {
    kind: 'kafka',
    text: true,
    connection: {
      brokers: '{{parameters.brokers}}',
      ...TLS_CONNECTION,
      sasl_mechanism: '{{parameters.sasl_mechanism}}',
      ...CREDENTIALS_CONNECTION,
      compression: '{{parameters.compression}}',
    },
    target: '{{parameters.topic}}',
    batch: { max_items: 1_000, max_bytes: 900_000, interval_ms: 200 },
  },
  default_action: 'pass_through',
  rate: { rps: 1_000 },
  concurrency: 2,
  variants: EVERY_EVENT,
});
