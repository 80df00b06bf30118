import type { Static } from 'typebox';
import { JS_BUILDER_DEFAULTS, JsBuilderConfigInput, JsBuilderConfigSchema } from './collector-settings.ts';
import { chosen, defaulted, defineResource, made, required, type UpdateOf, type ValueOf, type WritableOf } from './resource.ts';
import { AllOptional, AnyObject, Closed, Id, Name, Nullable, named, OneOf, Timestamp } from './schema.ts';
import { Type } from './type.ts';

/** A host or `*.host`, with an optional port. */
const HOST =
  '^(\\*\\.)?[\\p{L}\\p{N}_]([\\p{L}\\p{N}_-]*[\\p{L}\\p{N}_])?(\\.[\\p{L}\\p{N}_]([\\p{L}\\p{N}_-]*[\\p{L}\\p{N}_])?)*(:[0-9]{1,5})?$';
const Host = Type.String({
  maxLength: 260,
  pattern: HOST,
  'x-fault': 'must be a host such as shop.example or *.shop.example, without a scheme or a path',
  examples: ['*.shop.example'],
});

const IDENTITY = {
  cross_domain_enabled: Type.Boolean({ description: 'Whether a visitor keeps one identity across the domains.' }),
  cross_domain_domains: Type.Array(Host, { maxItems: 200, description: 'Domains that share identity.' }),
  vendor_sync: AnyObject({ description: 'Identity sync settings by vendor.' }),
};
export const IdentityConfigSchema = named('IdentityConfig', Closed(IDENTITY));
const IdentityConfigInput = named('IdentityConfigInput', Closed(AllOptional(IDENTITY)));
export type IdentityConfig = Static<typeof IdentityConfigSchema>;
export const IDENTITY_DEFAULTS: IdentityConfig = { cross_domain_enabled: false, cross_domain_domains: [], vendor_sync: {} };

const PipelineConfigSchema = named(
  'PipelineConfig',
  Closed({
    ip_allowlist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
        maxItems: 1_000,
        description: 'Addresses and networks (CIDR) that may send to a server pipeline. Empty allows all.',
      }),
    ),
    require_signature: Type.Optional(Type.Boolean({ description: 'Reject unsigned requests to a server pipeline.' })),
  }),
);
export type PipelineConfig = Static<typeof PipelineConfigSchema>;

export const MAX_SLUG = 100;
export const SLUG_PATTERN = '^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$';

export const pipeline = defineResource(
  'Pipeline',
  {
    id: made(Id('pl')),
    org_id: made(Id('org')),
    name: required(Name({ examples: ['Web shop'] })),
    slug: chosen(
      Type.String({
        minLength: 1,
        maxLength: MAX_SLUG,
        pattern: SLUG_PATTERN,
        'x-fault': `must be 1 to ${MAX_SLUG} lower-case letters, digits, - and _, with a letter or digit at both ends`,
        description: 'Made from the name when omitted.',
        examples: ['web-shop'],
      }),
    ),
    type: defaulted(OneOf(['web', 'app', 'server']), 'web'),
    pipeline_key: made(Type.String({ description: 'The public key that clients send with events.', examples: ['pk_7f3k…'] })),
    pipeline_key_secret_prefix: made(Type.String({ description: 'The first four characters of the secret.', examples: ['sk_9'] })),
    domain_allowlist: defaulted(Type.Array(Host, { maxItems: 1_000, description: 'Domains that may send events. Empty allows all.' }), []),
    labels: defaulted(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description: 'Labels of the form `prefix:value` can be grouped; others are plain tags. A label that is sent twice is stored once.',
        examples: [['env:production', 'team:growth']],
      }),
      [],
    ),
    rate_limit_rps: defaulted(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Events per second.' }), 1_000),
    challenge_token_required: defaulted(Type.Boolean({ description: 'Whether events must carry a challenge token.' }), false),
    parameters: defaulted(
      Type.Record(Type.String({ pattern: '^[^\\s{}]{1,100}$' }), Type.String({ maxLength: 10_000 }), {
        additionalProperties: false,
        maxProperties: 500,
        description:
          'Values for `{{pipeline_param.KEY}}` in integration configs, and `parameters` in transformations. A value is secret if a word of its name is token, secret, password, pwd, authorization, credential or API key (also access, private, signing, encryption, auth or license key), as in `vendorApiKey` or `VENDOR_TOKEN`: it is encrypted, and read back as a mask. Sending the mask back keeps it.',
      }),
      {},
    ),
    retention_days: defaulted(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 400,
          description:
            'Days to keep events and their traces. Null takes `EVENT_RETENTION`. The body as received is kept for the shorter of the two.',
        }),
      ),
      null,
    ),
    config: defaulted(PipelineConfigSchema, {}),
    js_builder_config: defaulted(JsBuilderConfigSchema, JS_BUILDER_DEFAULTS, JsBuilderConfigInput),
    identity_config: defaulted(IdentityConfigSchema, IDENTITY_DEFAULTS, IdentityConfigInput),
    enabled: defaulted(Type.Boolean({ description: 'Whether the pipeline accepts events.' }), true),
    created_at: made(Timestamp),
    updated_at: made(Timestamp),
  },
  {
    ignored: ['pipeline_key_secret'],
    examples: {
      create: {
        name: 'Web shop',
        domain_allowlist: ['shop.example', '*.shop.example'],
        labels: ['env:production'],
        parameters: { META_PIXEL: '1234567890' },
      },
      update: { enabled: false },
    },
  },
);
export type Pipeline = ValueOf<typeof pipeline>;
/** What a client may write; the service makes everything else. */
export type PipelineFields = WritableOf<typeof pipeline>;
export type PipelineInput = UpdateOf<typeof pipeline>;
/** The fields of a pipeline that can be long. Their characters count towards the organisation's budget. */
export function longFields({
  domain_allowlist,
  labels,
  parameters,
  config,
  js_builder_config,
  identity_config,
}: PipelineFields): unknown[] {
  return [domain_allowlist, labels, parameters, config, js_builder_config, identity_config];
}
