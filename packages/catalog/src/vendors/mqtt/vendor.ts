import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { flag, optionalText, text } from '../shared/fields.ts';
import { CREDENTIALS, CREDENTIALS_CONNECTION, EVERY_EVENT, TLS_CONNECTION, tlsFields } from '../shared/streams.ts';

export default defineVendor({
  key: 'mqtt',
  name: 'MQTT',
  description: 'Publishes events to a topic of an MQTT 5 broker with QoS 1.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html',
  setup_steps: ['Create a user that may publish to the topic.', 'Subscribe to the topic and send an event.'],
  notes: [
    'At least once: a message is delivered when the broker acknowledged it. The user property event_id lets a subscriber drop repeats.',
    'MQTT keeps messages only for subscribers with a session: without one, an acknowledged message is gone.',
  ],
  config_fields: [
    text('url', 'URL', 'mqtts://broker.example.com:8883', 'mqtt://, mqtts://, ws:// or wss://, host and port.', {
      pattern: '^(mqtts?|wss?)://\\S+$',
      pattern_hint: 'a URL that begins with mqtt://, mqtts://, ws:// or wss://',
    }),
    ...CREDENTIALS,
    optionalText(
      'topic',
      'Topic',
      'firsthand/events',
      'It may refer to the event, such as events/{{event.type}}. Names with + or # are refused.',
      {
        default: 'firsthand/events',
      },
    ),
    optionalText(
      'client_id',
      'Client ID',
      'firsthand-1',
      'Only where the broker asks for a certain one. Two connections must not share it.',
    ),
    flag('retain', 'Retain', 'The broker keeps the last message of the topic for new subscribers.'),
    ...tlsFields('For mqtts:// and wss://. verify checks the certificate; require encrypts without checking it.'),
  ],
  transport: {
    kind: 'mqtt',
    text: true,
    connection: {
      url: '{{parameters.url}}',
      ...CREDENTIALS_CONNECTION,
      ...TLS_CONNECTION,
      client_id: '{{parameters.client_id}}',
      retain: '{{parameters.retain}}',
    },
    target: '{{parameters.topic}}',
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 200 },
  },
  default_action: 'pass_through',
  rate: { rps: 500 },
  concurrency: 1,
  variants: EVERY_EVENT,
});
