import { transformation } from '@firsthand/core/config/transformation.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import type { Db } from './schema.ts';
import { lenientJson, storedJson } from './stored-json.ts';

export interface ChangedDocument {
  /** As in the snapshot: a tracking plan has the id of its pipeline, a data layer that of its organisation. */
  id: string;
  document: unknown;
}

/** The documents of an organisation that a write has changed and that the snapshot will compile. */
export async function changedDocuments(tx: Db, orgId: string, rowVersion: number): Promise<ChangedDocument[]> {
  const integrations = await tx
    .selectFrom('integrations')
    .innerJoin('revisions', (join) =>
      join
        .onRef('revisions.template_id', '=', 'integrations.template_id')
        .onRef('revisions.revision_number', '=', 'integrations.revision_number'),
    )
    .select(['integrations.id', 'revisions.config'])
    .where('integrations.org_id', '=', orgId)
    .where('integrations.row_version', '=', rowVersion)
    .where('integrations.deleted_at', 'is', null)
    .execute();
  const steps = await tx
    .selectFrom('transformations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('row_version', '=', rowVersion)
    .execute();
  const sources = await tx
    .selectFrom('webhook_sources')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('row_version', '=', rowVersion)
    .execute();
  const plans = await tx
    .selectFrom('tracking_plans')
    .select(['pipeline_id', 'plan'])
    .where('org_id', '=', orgId)
    .where('row_version', '=', rowVersion)
    .execute();
  const layers = await tx
    .selectFrom('data_layers')
    .select(['org_id', 'config'])
    .where('org_id', '=', orgId)
    .where('row_version', '=', rowVersion)
    .execute();
  return [
    ...integrations.map(({ id, config }) => ({ id, document: storedJson<unknown>(config, {}) })),
    ...steps.map((row) => ({ id: row.id, document: transformation.fromRow(row, lenientJson) })),
    ...sources.map((row) => ({ id: row.id, document: webhookSource.fromRow(row, lenientJson) })),
    ...plans.map(({ pipeline_id, plan }) => ({ id: pipeline_id, document: storedJson<unknown>(plan, {}) })),
    ...layers.map(({ org_id, config }) => ({ id: org_id, document: storedJson<unknown>(config, {}) })),
  ];
}
