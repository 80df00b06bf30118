import { defaulted, defineResource, fixed, made, required, type ValueOf } from './resource.ts';
import { Id, Name, Nullable, Text, Timestamp } from './schema.ts';
import { Type } from './type.ts';

/** An integration of the organisation that can be reused. Its configuration is in its revisions. */
export const template = defineResource(
  'IntegrationTemplate',
  {
    id: made(Id('tpl')),
    org_id: made(Id('org')),
    name: required(Name()),
    vendor: fixed(Type.String({ minLength: 1, maxLength: 100, description: 'Catalog key of the vendor.', examples: ['webhook'] })),
    description: defaulted(Text(2_000), ''),
    catalog_vendor_key: made(Nullable(Type.String({ description: 'The catalog entry it was installed from.' }))),
    catalog_variant_key: made(Nullable(Type.String({ description: 'The variant it was installed from.' }))),
    created_at: made(Timestamp),
    updated_at: made(Timestamp),
  },
  {
    ignored: ['latest_revision', 'used_by'],
    examples: {
      create: { name: 'Warehouse hook', vendor: 'webhook' },
      update: { name: 'Warehouse webhook' },
    },
  },
);
export type Template = ValueOf<typeof template>;
export type TemplateFields = Omit<Template, 'id' | 'org_id' | 'created_at' | 'updated_at'>;
