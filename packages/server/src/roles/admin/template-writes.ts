/** What install, template creation and the one-step integration share: a template with its first revision, in one transaction. */
import type { DeliveryMode, Revision, Template } from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { newId } from '../../runtime/ids.ts';
import { organisationKey } from '../../stores/config/organisations.ts';
import { insertRevision } from '../../stores/config/revisions.ts';
import type { Db } from '../../stores/config/schema.ts';
import { insertTemplate } from '../../stores/config/templates.ts';
import type { Actor, AdminContext } from './context.ts';
import { sealConfig, toRevision } from './integration-config.ts';
import type { Change } from './write.ts';

export interface NewTemplate {
  vendor: VendorDefinition;
  config: JsonObject;
  delivery_mode: DeliveryMode;
  name: string;
  description: string;
  catalog: { vendor: string; variant: string } | null;
  change_summary: string;
}

export async function createTemplate(
  context: Pick<AdminContext, 'cipher' | 'clock'>,
  tx: Db,
  user: Pick<Actor, 'id' | 'org_id'>,
  change: Change,
  input: NewTemplate,
): Promise<{ template: Template; revision: Revision }> {
  const now = context.clock.now();
  const template = await insertTemplate(
    tx,
    { id: newId('tpl', now), org_id: user.org_id },
    {
      name: input.name,
      vendor: input.vendor.key,
      description: input.description,
      catalog_vendor_key: input.catalog?.vendor ?? null,
      catalog_variant_key: input.catalog?.variant ?? null,
    },
    change.stamp,
  );
  const revision = await addRevision(context, tx, user, change, { template, revision_number: 1, ...input });
  return { template, revision };
}

export async function addRevision(
  context: Pick<AdminContext, 'cipher' | 'clock'>,
  tx: Db,
  user: Pick<Actor, 'id' | 'org_id'>,
  change: Change,
  input: Pick<NewTemplate, 'vendor' | 'config' | 'delivery_mode' | 'change_summary'> & { template: Template; revision_number: number },
): Promise<Revision> {
  const org = await organisationKey(tx, user.org_id);
  const stored = await insertRevision(
    tx,
    { id: newId('rev', context.clock.now()), org_id: user.org_id, template_id: input.template.id, revision_number: input.revision_number },
    {
      ...sealConfig(context, org, input.vendor, input.config),
      delivery_mode: input.delivery_mode,
      change_summary: input.change_summary,
      created_by: user.id,
    },
    change.stamp.now,
  );
  return toRevision(context, org, input.vendor.key, stored);
}
