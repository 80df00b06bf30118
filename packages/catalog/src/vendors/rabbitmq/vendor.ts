import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, text } from '../shared/fields.ts';
import { CREDENTIALS, CREDENTIALS_CONNECTION, EVERY_EVENT, TLS_CONNECTION, tlsFields } from '../shared/streams.ts';

export default defineVendor({
  key: 'rabbitmq',
  name: 'RabbitMQ',
  description: 'Publishes events to an exchange or a queue, with publisher confirms.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://www.rabbitmq.com/docs/confirms',
  setup_steps: [
    'Declare a durable queue, and bind it to the exchange if you use one.',
    'Create a user with write permission on the exchange.',
    'Send an event and get a message from the queue.',
  ],
  notes: [
    'At least once: a message is delivered when the broker confirmed it and routed it to a queue. message_id is the event id.',
    'An event whose routing key reaches no queue is retried, and becomes a dead letter if that does not change.',
  ],
  config_fields: [
    text('url', 'URL', 'amqps://rabbit.example.com:5671/production', 'amqp:// or amqps://, host, port and virtual host.', {
      pattern: '^amqps?://\\S+$',
      pattern_hint: 'a URL that begins with amqp:// or amqps://',
    }),
    ...CREDENTIALS,
    optionalText('exchange', 'Exchange', 'events', 'Empty: the default exchange, where the routing key is the name of a queue.', {
      default: '',
    }),
    optionalText('routing_key', 'Routing key', 'firsthand.events', 'It may refer to the event, such as events.{{event.type}}.', {
      default: 'events',
    }),
    ...tlsFields('For amqps://. verify checks the certificate; require encrypts without checking it.'),
  ],
  transport: {
    kind: 'rabbitmq',
    text: true,
    connection: { url: '{{parameters.url}}', ...CREDENTIALS_CONNECTION, ...TLS_CONNECTION, exchange: '{{parameters.exchange}}' },
    target: '{{parameters.routing_key}}',
    batch: { max_items: 500, max_bytes: 4_000_000, interval_ms: 200 },
  },
  default_action: 'pass_through',
  rate: { rps: 500 },
  concurrency: 1,
  variants: EVERY_EVENT,
});
