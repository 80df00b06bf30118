/** Bodies and responses that combine a template, its revision and an integration. */
import { DeliveryModeSchema } from '@firsthand/core/config/delivery-mode.ts';
import { integration } from '@firsthand/core/config/integration.ts';
import { revision, VendorConfig } from '@firsthand/core/config/revision.ts';
import { Body, Closed, Id, Name, named, Text } from '@firsthand/core/config/schema.ts';
import { template } from '@firsthand/core/config/template.ts';
import { Type } from '@firsthand/core/config/type.ts';

export const TemplateWithUse = named(
  'IntegrationTemplateWithUse',
  Closed({
    ...template.response.properties,
    latest_revision: revision.response,
    used_by: Type.Array(Type.String(), { description: 'Ids of the pipelines that use it.' }),
  }),
);
export const TemplateAndRevision = named('TemplateAndRevision', Closed({ template: template.response, revision: revision.response }));

export const TemplateCreate = named(
  'IntegrationTemplateCreate',
  Body(
    { ...template.create.properties, ...revision.create.properties },
    template.readOnly.filter((field) => field !== 'vendor'),
    {
      examples: [{ name: 'Warehouse hook', vendor: 'webhook', config: { url: 'https://example.com/events' } }],
    },
  ),
);
export const Install = named(
  'CatalogInstall',
  Body(
    {
      name: Name({ description: 'Name of the new template.' }),
      variant: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: 'default', description: 'Key of the variant.' })),
      config: Type.Optional(VendorConfig),
      delivery_mode: Type.Optional(DeliveryModeSchema),
      description: Type.Optional(Text(2_000)),
    },
    [],
    { examples: [{ name: 'GA4 shop', variant: 'retail', config: { measurement_id: 'G-ABC1234567', api_secret: 'a-secret' } }] },
  ),
);

const { template_id: _template, revision_number: _revision, name: _name, ...settings } = integration.create.properties;
export const OneStepCreate = named(
  'OneStepIntegrationCreate',
  Body(
    {
      source_id: Type.String({ minLength: 1, maxLength: 100, description: 'The pipeline.' }),
      vendor: Type.String({ minLength: 1, maxLength: 100, description: 'Catalog key of the vendor.' }),
      name: Name(),
      config: VendorConfig,
      delivery_mode: Type.Optional(DeliveryModeSchema),
      ...settings,
    },
    ['template_id', 'revision_number', ...integration.readOnly.filter((field) => field !== 'vendor' && field !== 'delivery_mode')],
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
  ),
);
/** Also takes the answer of `POST /integrations` back, which has `source_id` and `config` beside the integration's own fields. */
export const IntegrationUpdate = named(
  'IntegrationUpdate',
  Body(
    {
      ...integration.update.properties,
      config: Type.Optional({
        ...VendorConfig,
        description: 'Ignored if it is the configuration that the pinned revision shows, otherwise 422: it changes by a new revision.',
      }),
    },
    [...integration.readOnly, 'source_id'],
    { examples: (integration.update as { examples?: unknown[] }).examples },
  ),
);
export const OneStepIntegration = named(
  'OneStepIntegration',
  Closed({ ...integration.response.properties, source_id: Id('pl', 'The pipeline.'), config: VendorConfig }),
);

/** A request as the delivery code builds it, secrets masked. */
export const VendorRequestSchema = named(
  'VendorRequest',
  Closed({
    method: Type.String(),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.Unknown({ description: 'JSON as JSON, anything else as text.' }),
  }),
);
