import { Type } from 'typebox';
import { AllOptional, AnyObject, Body, Closed, Id, Name, Nullable, OneOf, Timestamp } from '../../http/schema.ts';

export const DeliveryModeSchema = OneOf(['server_side', 'client_side']);
export const Config = AnyObject({ description: "The vendor's fields and the mapping; see the vendor in the catalog." });
const Text = (maxLength: number) => Type.String({ maxLength });

export const Template = Type.Object({
  id: Id('tpl'),
  org_id: Id('org'),
  name: Type.String(),
  vendor: Type.String(),
  description: Type.String(),
  catalog_vendor_key: Nullable(Type.String()),
  catalog_variant_key: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const RevisionSchema = Type.Object({
  id: Id('rev'),
  integration_id: Id('tpl'),
  org_id: Id('org'),
  revision_number: Type.Integer(),
  config: Config,
  delivery_mode: DeliveryModeSchema,
  change_summary: Type.String(),
  created_by: Type.String(),
  created_at: Timestamp,
});
export const TemplateWithUse = Type.Object({
  ...Template.properties,
  latest_revision: RevisionSchema,
  used_by: Type.Array(Type.String(), { description: 'Ids of the pipelines that use it.' }),
});
export const TemplateAndRevision = Type.Object({ template: Template, revision: RevisionSchema });

const TEMPLATE_READ_ONLY = [
  'id',
  'org_id',
  'catalog_vendor_key',
  'catalog_variant_key',
  'created_at',
  'updated_at',
  'latest_revision',
  'used_by',
];
export const TemplateCreate = Body(
  {
    name: Name(),
    vendor: Type.String({ minLength: 1, maxLength: 100 }),
    description: Type.Optional(Text(2_000)),
    config: Config,
    delivery_mode: Type.Optional(DeliveryModeSchema),
    change_summary: Type.Optional(Text(2_000)),
  },
  TEMPLATE_READ_ONLY,
  { examples: [{ name: 'Warehouse hook', vendor: 'webhook', config: { url: 'https://example.com/events' } }] },
);
export const TemplateUpdate = Body(AllOptional({ name: Name(), description: Text(2_000) }), [...TEMPLATE_READ_ONLY, 'vendor'], {
  examples: [{ name: 'Warehouse webhook' }],
});
export const RevisionCreate = Body(
  { config: Config, delivery_mode: Type.Optional(DeliveryModeSchema), change_summary: Type.Optional(Text(2_000)) },
  ['id', 'integration_id', 'org_id', 'revision_number', 'created_by', 'created_at'],
  { examples: [{ config: { url: 'https://example.com/v2/events' }, change_summary: 'New address' }] },
);
export const Install = Body(
  {
    name: Name(),
    variant: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: 'default' })),
    config: Type.Optional(Config),
    delivery_mode: Type.Optional(DeliveryModeSchema),
    description: Type.Optional(Text(2_000)),
  },
  [],
  { examples: [{ name: 'GA4 shop', variant: 'retail', config: { measurement_id: 'G-ABC1234567', api_secret: 'a-secret' } }] },
);

export const EventFilterSchema = Closed({
  event_names: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      maxItems: 1_000,
      description: 'Track names, and @page, @identify, @group.',
    }),
  ),
});
const WRITABLE = {
  name: Name(),
  enabled: Type.Boolean(),
  consent_category: Nullable(
    Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$', 'x-fault': 'must be a category such as marketing, or null' }),
  ),
  event_filter: Nullable(EventFilterSchema),
  rate_limit_rps: Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })),
  rate_limit_burst: Nullable(Type.Number({ minimum: 1, maximum: 1_000_000 })),
  rate_limit_daily: Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 })),
};
const RevisionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

export const Health = Type.Object({
  status: OneOf(['ok', 'failing', 'paused', 'misconfigured'], {
    description: 'paused: disabled, or held by a rate limit. misconfigured: nothing can be sent, `warnings` say why.',
  }),
  last_success_at: Nullable(Timestamp),
  last_error: Nullable(Type.String()),
  waiting: Type.Integer(),
  oldest_waiting_at: Nullable(Timestamp),
  warnings: Type.Array(Type.String()),
});
export const IntegrationSchema = Type.Object({
  id: Id('int'),
  org_id: Id('org'),
  pipeline_id: Id('pl'),
  template_id: Id('tpl'),
  revision_number: Type.Integer(),
  ...WRITABLE,
  vendor: Type.String(),
  delivery_mode: DeliveryModeSchema,
  health: Health,
  created_at: Timestamp,
  updated_at: Timestamp,
});
const INTEGRATION_READ_ONLY = ['id', 'org_id', 'pipeline_id', 'vendor', 'delivery_mode', 'health', 'created_at', 'updated_at'];
export const IntegrationCreate = Body(
  { template_id: Type.String({ minLength: 1, maxLength: 100 }), revision_number: Type.Optional(RevisionNumber), ...AllOptional(WRITABLE) },
  INTEGRATION_READ_ONLY,
  { examples: [{ template_id: 'tpl_01jv0g3m5w8k2d7c9q4r6t1x0z', consent_category: 'marketing' }] },
);
export const IntegrationUpdate = Body(
  AllOptional({ revision_number: RevisionNumber, ...WRITABLE }),
  [...INTEGRATION_READ_ONLY, 'template_id'],
  { examples: [{ enabled: false }] },
);
export const OneStep = Body(
  {
    source_id: Type.String({ minLength: 1, maxLength: 100, description: 'The pipeline.' }),
    vendor: Type.String({ minLength: 1, maxLength: 100 }),
    name: Name(),
    config: Config,
    delivery_mode: Type.Optional(DeliveryModeSchema),
    ...AllOptional((({ name: _name, ...rest }) => rest)(WRITABLE)),
  },
  ['id', 'org_id', 'pipeline_id', 'template_id', 'revision_number', 'health', 'created_at', 'updated_at'],
  {
    examples: [
      {
        source_id: 'pl_01jv0g3m5w8k2d7c9q4r6t1x0z',
        vendor: 'webhook',
        name: 'My endpoint',
        enabled: true,
        config: { url: 'https://example.com/events' },
      },
    ],
  },
);
export const OneStepAnswer = Type.Object({ ...IntegrationSchema.properties, source_id: Id('pl'), config: Config });
