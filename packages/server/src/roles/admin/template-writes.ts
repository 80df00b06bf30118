/** Creates a template with its first revision in one transaction: for install, template creation and the one-step integration. */
import { type COUNT_BUDGET, countExcess } from '@firsthand/core/config/budget.ts';
import type { DeliveryMode, Revision, Template } from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { MAPPING_KEYS } from '@firsthand/core/mapping/mapping.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { mergeConfig } from '@firsthand/core/vendor/merge.ts';
import { invalid } from '../../http/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { turns } from '../../runtime/turns.ts';
import { organisationKey } from '../../stores/config/organisations.ts';
import { insertRevision } from '../../stores/config/revisions.ts';
import type { Db } from '../../stores/config/schema.ts';
import { countTemplates, insertTemplate } from '../../stores/config/templates.ts';
import type { Actor, AdminContext } from './deps.ts';
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

/**
 * A config with connection settings only would drop every event of a vendor that needs a mapping, so it gets the default variant's
 * mappings. A config with its own mapping is not changed.
 */
export function withDefaultMappings(vendor: VendorDefinition, config: JsonObject): { config: JsonObject; variant: string | null } {
  const variant = vendor.variants.find(({ key }) => key === 'default');
  if (variant === undefined || vendor.default_action !== 'drop' || MAPPING_KEYS.some((key) => config[key] !== undefined))
    return { config, variant: null };
  return { config: mergeConfig(variant.default_config, config) as JsonObject, variant: variant.key };
}
export function initialSetup(vendor: VendorDefinition, variant: string): string {
  return `Initial setup from catalog: ${vendor.name} (${variant})`;
}

/** As a change of its own. */
export function writeTemplate(
  context: Pick<AdminContext, 'cipher' | 'clock' | 'write'>,
  user: Actor,
  action: 'template.created' | 'template.installed',
  input: NewTemplate,
): Promise<{ template: Template; revision: Revision }> {
  return context.write(user, action, async (tx, change) => {
    const made = await createTemplate(context, tx, user, change, input);
    change.audit({ id: made.template.id, after: { ...made.template, config: made.revision.config } });
    return made;
  });
}
export async function createTemplate(
  context: Pick<AdminContext, 'cipher' | 'clock'>,
  tx: Db,
  user: Pick<Actor, 'id' | 'org_id'>,
  change: Change,
  input: NewTemplate,
): Promise<{ template: Template; revision: Revision }> {
  requireRoom('organisation_templates', await countTemplates(tx, user.org_id));
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
  requireRoom('template_revisions', input.revision_number - 1);
  const org = await organisationKey(tx, user.org_id);
  const sealed = sealConfig(context, org, input.vendor, input.config);
  await turns.bulk();
  const stored = await insertRevision(
    tx,
    { id: newId('rev', context.clock.now()), org_id: user.org_id, template_id: input.template.id, revision_number: input.revision_number },
    {
      ...sealed,
      delivery_mode: input.delivery_mode,
      change_summary: input.change_summary,
      created_by: user.id,
    },
    change.stamp.now,
  );
  return toRevision(context, org, input.vendor.key, stored, input.config);
}

function requireRoom(budget: keyof typeof COUNT_BUDGET, count: number): void {
  const excess = countExcess(budget, count);
  if (excess !== undefined) throw invalid('', excess.message);
}
