import { chosen, defaulted, defineResource, made, required, shown, type ValueOf, type WritableOf } from './resource.ts';
import { Id, Name, Nullable, OneOf, Timestamp } from './schema.ts';
import { Type } from './type.ts';

const SOURCE_TYPES = ['payment_processor', 'ecommerce_platform', 'crm', 'form_service', 'messaging_service', 'custom'] as const;
const PROVIDERS = ['stripe', 'shopify', 'hubspot', 'typeform', 'intercom', 'github', 'svix', 'custom'] as const;
/** `webhook`: the sender calls. The others are brokers from which the service reads. */
const SOURCE_KINDS = ['webhook', 'kafka', 'nats', 'sqs'] as const;
export type WebhookSourceType = (typeof SOURCE_TYPES)[number];
export type WebhookProvider = (typeof PROVIDERS)[number];

const Path = (description: string) => Nullable(Type.String({ minLength: 1, maxLength: 1_000, description, examples: ['$.type'] }));
const Pairs = (description: string) => Type.Record(Type.String(), Type.String(), { description });

export const webhookSource = defineResource(
  'WebhookSource',
  {
    id: made(Id('whs')),
    org_id: made(Id('org')),
    pipeline_id: required(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'The pipeline that takes the events.',
        examples: ['pl_01jv0g3m5w8k2d7c9q4r6t1x0z'],
      }),
    ),
    name: required(Name()),
    source_type: required(OneOf(SOURCE_TYPES, { description: 'The kind of service that calls.' })),
    provider: chosen(OneOf(PROVIDERS, { description: 'The preset for signature and mapping. Defaults to that of the source type.' })),
    kind: defaulted(
      OneOf(SOURCE_KINDS, {
        description:
          'How events arrive: the sender calls the URL (`webhook`), or the service reads them from Kafka, NATS JetStream or Amazon SQS.',
      }),
      'webhook',
    ),
    connection: defaulted(
      Nullable(
        Type.Record(Type.String(), Type.String(), {
          description:
            'For a broker, its settings. `kafka`: brokers, topic, group, tls, ca, sasl_mechanism, username. `nats`: url, stream, subject, durable, tls, ca, authentication, username. `sqs`: queue_url, region, access_key_id, endpoint. The password, token or secret key is `signing_secret`.',
          examples: [{ brokers: 'kafka-1.example.com:9093', topic: 'orders' }],
        }),
      ),
      null,
    ),
    enabled: defaulted(Type.Boolean(), true),
    event_type_path: defaulted(Path("Path of the sender's event type: `$.type`, `$headers.x-event` or `$query.event`."), null),
    mappings: defaulted(
      Pairs('Target field to a path (`$.data.id`, `$headers.x-id`, `$query.id`; `$.` may be omitted) or to a literal in single quotes.'),
      {},
    ),
    event_name_map: defaulted(Pairs("The sender's event type to event name. A type that is not listed is used as it is."), {}),
    timestamp_path: defaulted(Path('Path of the event time, in the same forms.'), null),
    timestamp_format: defaulted(Nullable(OneOf(['unix_seconds', 'unix_millis', 'iso8601'])), null),
    signature_header: defaulted(
      Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'The header that carries the signature (custom sources).' })),
      null,
    ),
    signature_method: defaulted(Nullable(OneOf(['hmac_sha256', 'standard_webhooks', 'shared_secret', 'none'])), null),
    default_consent: defaulted(
      Nullable(
        Type.Record(Type.String(), Type.Boolean(), {
          description:
            'Consent categories of events that arrive without consent, such as `{"marketing": true}`. Null leaves their consent unknown: integrations that need a category do not get them. Shown in the trace as the default of the webhook source.',
          examples: [{ analytics: true, marketing: false }],
        }),
      ),
      null,
    ),
    url: shown(Type.String({ description: 'The address to give to the sender; empty for a broker.' })),
    created_at: made(Timestamp),
    updated_at: made(Timestamp),
  },
  {
    examples: {
      create: { pipeline_id: 'pl_01jv0g3m5w8k2d7c9q4r6t1x0z', name: 'Stripe', source_type: 'payment_processor' },
      update: { name: 'Stripe, live' },
    },
  },
);
/** Without the signing secret, which stays sealed in its row. */
export type PublicWebhookSource = ValueOf<typeof webhookSource>;
export type WebhookSource = PublicWebhookSource & { signing_secret: string };
export type WebhookSourceFields = WritableOf<typeof webhookSource>;
