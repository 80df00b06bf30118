import { IDENTIFIER, NAME_FAULT, TAKEN_NAMES } from '@firsthand/collector/build/global-name.ts';
import { type Static, Type } from 'typebox';
import { AllOptional, AnyObject, Body, Closed, Id, Name, OneOf, Timestamp } from '../../http/schema.ts';
import { MAX_SLUG, SLUG_PATTERN } from './slug.ts';

/** A host or `*.host`, a port optional. */
const HOST =
  '^(\\*\\.)?[\\p{L}\\p{N}_]([\\p{L}\\p{N}_-]*[\\p{L}\\p{N}_])?(\\.[\\p{L}\\p{N}_]([\\p{L}\\p{N}_-]*[\\p{L}\\p{N}_])?)*(:[0-9]{1,5})?$';
const Host = Type.String({
  maxLength: 260,
  pattern: HOST,
  'x-fault': 'must be a host such as shop.example or *.shop.example, without a scheme or a path',
});

const ConsentCategory = Type.String({ minLength: 1, maxLength: 100 });
const ConsentConfig = Closed({
  provider: Type.Optional(
    OneOf(['auto', 'onetrust', 'cookiebot', 'usercentrics', 'didomi', 'osano', 'tcf', 'google_consent_mode', 'custom']),
  ),
  wait_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
  required_category: Type.Optional(ConsentCategory),
});
/** Names that every JavaScript object has: an event built in a browser cannot hold them as its own. */
const INHERITED = ['prototype', ...Object.getOwnPropertyNames(Object.prototype)].join('|');
/** As the canonical event has them, and as calls do. */
const IDS_AND_NAMES = 'event_id|timestamp|user_id|anonymous_id|group_id|userId|anonymousId|groupId|event|name';
const PageVariable = Closed({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  source: OneOf(['data_layer', 'js_variable', 'cookie', 'query', 'meta', 'selector']),
  path: Type.String({ minLength: 1, maxLength: 1_000 }),
  target: Type.String({
    maxLength: 500,
    pattern: `^((properties|traits|context)(\\.[^.]+)*|${IDS_AND_NAMES})$`,
    not: { pattern: `(^|\\.)(${INHERITED})(\\.|$)` },
    'x-fault': 'must be a path into the event, such as properties.section, traits.plan, context.page.type or user_id',
    examples: ['properties.section'],
  }),
});
const JsBuilder = {
  script_filename: Type.String({
    maxLength: 100,
    pattern: '^[A-Za-z0-9._-]+\\.js$',
    'x-fault': 'may hold letters, digits, . _ - and must end in .js',
  }),
  global_variable: Type.String({
    maxLength: 100,
    pattern: IDENTIFIER,
    not: { enum: [...TAKEN_NAMES] },
    'x-fault': NAME_FAULT,
  }),
  delivery_method: OneOf(['download', 'cdn', 'cluster']),
  vendor_syncs: Type.Record(
    Type.String({ minLength: 1, maxLength: 100 }),
    Closed({ enabled: Type.Optional(Type.Boolean()), consent_category: Type.Optional(ConsentCategory) }),
  ),
  consent_config: ConsentConfig,
  cross_domain: Type.Boolean(),
};
const Variables = Type.Array(PageVariable, { maxItems: 200 });
const Identity = {
  cross_domain_enabled: Type.Boolean(),
  cross_domain_domains: Type.Array(Host, { maxItems: 200 }),
  vendor_sync: AnyObject({ description: 'Per-vendor identity sync settings.' }),
};
const Config = Closed(
  {
    ip_allowlist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
        maxItems: 1_000,
        description: 'Addresses and networks (CIDR) that may send to a server pipeline; empty allows all.',
      }),
    ),
    require_signature: Type.Optional(Type.Boolean({ description: 'Refuse unsigned requests of a server pipeline.' })),
  },
  { description: 'Pipeline-specific configuration.' },
);

const Slug = Type.String({
  minLength: 1,
  maxLength: MAX_SLUG,
  pattern: SLUG_PATTERN,
  'x-fault': `must be 1 to ${MAX_SLUG} lower-case letters, digits, - and _, with a letter or digit at both ends`,
});
const shared = {
  name: Name({ examples: ['Web shop'] }),
  slug: Slug,
  type: OneOf(['web', 'app', 'server'], { default: 'web' }),
  domain_allowlist: Type.Array(Host, { maxItems: 1_000, description: 'Domains that may send events; empty allows all.' }),
  labels: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 100,
    uniqueItems: true,
    description: '`prefix:value` labels are groupable, others are plain tags.',
    examples: [['env:production', 'team:growth']],
  }),
  rate_limit_rps: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1_000 }),
  challenge_token_required: Type.Boolean({ default: false }),
  parameters: Type.Record(Type.String({ pattern: '^[^\\s{}]{1,100}$' }), Type.String({ maxLength: 10_000 }), {
    additionalProperties: false,
    description: 'Values for `{{pipeline_param.KEY}}` in integration configs.',
  }),
  config: Config,
  enabled: Type.Boolean({ default: true }),
};

const readOnly = ['id', 'org_id', 'pipeline_key', 'pipeline_key_secret', 'pipeline_key_secret_prefix', 'created_at', 'updated_at'];
const writable = {
  ...AllOptional(shared),
  js_builder_config: Type.Optional(Closed({ ...AllOptional(JsBuilder), variables: Type.Optional(Variables) })),
  identity_config: Type.Optional(Closed(AllOptional(Identity))),
};
const example = {
  name: 'Web shop',
  domain_allowlist: ['shop.example', '*.shop.example'],
  labels: ['env:production'],
  parameters: { META_PIXEL: '1234567890' },
};
export const PipelineCreate = Body({ ...writable, name: shared.name }, readOnly, { examples: [example] });
export const PipelineUpdate = Body(writable, readOnly, { examples: [{ enabled: false }] });
export type PipelineInput = Static<typeof PipelineUpdate>;

export const Pipeline = Closed({
  id: Id('pl'),
  org_id: Id('org'),
  ...shared,
  pipeline_key: Type.String({ examples: ['pk_7f3k…'] }),
  pipeline_key_secret_prefix: Type.String({ examples: ['sk_9'], description: 'The first four characters of the secret.' }),
  js_builder_config: Closed({ ...JsBuilder, variables: Type.Optional(Variables) }),
  identity_config: Closed(Identity),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const PipelineWithSecret = Closed({
  ...Pipeline.properties,
  pipeline_key_secret: Type.String({ description: 'Shown this once.' }),
});
export const PipelineSummary = Closed({
  id: Pipeline.properties.id,
  name: shared.name,
  slug: shared.slug,
  type: shared.type,
  pipeline_key: Pipeline.properties.pipeline_key,
  labels: shared.labels,
  enabled: shared.enabled,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const RotatedSecret = Closed({
  pipeline_key: Pipeline.properties.pipeline_key,
  pipeline_key_secret: Type.String({ description: 'Shown this once; the old one is invalid from now on.' }),
  pipeline_key_secret_prefix: Pipeline.properties.pipeline_key_secret_prefix,
});
