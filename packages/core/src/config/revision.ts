import { DeliveryModeSchema } from './delivery-mode.ts';
import { chosen, defineResource, fixed, made, type ValueOf } from './resource.ts';
import { AnyObject, Id, Text, Timestamp } from './schema.ts';
import { Type } from './type.ts';

export const VendorConfig = AnyObject({
  description: "The vendor's fields and the mapping. The catalog describes the fields of each vendor.",
});

/** An immutable configuration of a template. Its row holds the config without the secrets, and the secrets sealed. */
export const revision = defineResource(
  'Revision',
  {
    id: made(Id('rev')),
    integration_id: made(Id('tpl', 'The template.')),
    org_id: made(Id('org')),
    revision_number: made(Type.Integer({ minimum: 1, description: 'Counts from 1 in each template.' })),
    config: fixed(VendorConfig),
    delivery_mode: chosen(DeliveryModeSchema),
    change_summary: chosen(Text(2_000, { description: 'What changed, for people.' })),
    created_by: made(Id('usr')),
    created_at: made(Timestamp),
  },
  {
    examples: {
      create: { config: { url: 'https://example.com/v2/events' }, change_summary: 'New address' },
      update: {},
    },
  },
);
export type Revision = ValueOf<typeof revision>;
