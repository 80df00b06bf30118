import { longFields, pipeline } from '@firsthand/core/config/pipeline.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import type { Cipher } from '../../secrets/cipher.ts';
import { openConfig } from './load-config.ts';
import { organisationKey } from './organisations.ts';
import { openParameters } from './pipeline-parameters.ts';
import type { Db } from './schema.ts';
import { lenientJson, storedJson } from './stored-json.ts';

export interface ChangedDocument {
  /** As in the snapshot: `trackingPlanId` for a tracking plan, the id of the organisation for a data layer. */
  id: string;
  document: unknown;
  /** Held with the document, but not compiled. */
  beside?: unknown;
}
export const trackingPlanId = (pipelineId: string): string => `${pipelineId}/tracking_plan`;

/** The documents of an organisation that were written after a version, as the snapshot holds them: with their secrets. */
export async function changedDocuments(tx: Db, cipher: Cipher, orgId: string, after: number): Promise<ChangedDocument[]> {
  const key = await organisationKey(tx, orgId);
  const pipelines = await tx
    .selectFrom('pipelines')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('row_version', '>', after)
    .where('deleted_at', 'is', null)
    .execute();
  const integrations = await tx
    .selectFrom('integrations')
    .innerJoin('revisions', (join) =>
      join
        .onRef('revisions.template_id', '=', 'integrations.template_id')
        .onRef('revisions.revision_number', '=', 'integrations.revision_number'),
    )
    .select(['integrations.id', 'integrations.event_filter', 'revisions.config', 'revisions.secrets'])
    .where('integrations.org_id', '=', orgId)
    .where('integrations.row_version', '>', after)
    .where('integrations.deleted_at', 'is', null)
    .execute();
  const steps = await tx.selectFrom('transformations').selectAll().where('org_id', '=', orgId).where('row_version', '>', after).execute();
  const sources = await tx.selectFrom('webhook_sources').selectAll().where('org_id', '=', orgId).where('row_version', '>', after).execute();
  const plans = await tx
    .selectFrom('tracking_plans')
    .select(['pipeline_id', 'plan'])
    .where('org_id', '=', orgId)
    .where('row_version', '>', after)
    .execute();
  const layers = await tx
    .selectFrom('data_layers')
    .select(['org_id', 'config'])
    .where('org_id', '=', orgId)
    .where('row_version', '>', after)
    .execute();
  return [
    ...pipelines.map((row) => {
      const read = pipeline.fromRow(row, lenientJson);
      const { parameters } = readable(() => openParameters(cipher, key, read.parameters, row), { parameters: {}, sealed: [] });
      return { id: row.id, document: undefined, beside: longFields({ ...read, parameters }) };
    }),
    ...integrations.map(({ id, event_filter, ...revision }) => ({
      id,
      document: readable(() => openConfig(cipher, key, revision), {}),
      beside: event_filter === null ? null : storedJson<unknown>(event_filter, null),
    })),
    ...steps.map((row) => ({ id: row.id, document: transformation.fromRow(row, lenientJson) })),
    ...sources.map((row) => ({
      id: row.id,
      document: {
        ...webhookSource.fromRow(row, lenientJson),
        signing_secret: readable(() => cipher.openText(key, row.signing_secret), ''),
      },
    })),
    ...plans.map(({ pipeline_id, plan }) => ({ id: trackingPlanId(pipeline_id), document: storedJson<unknown>(plan, {}) })),
    ...layers.map(({ org_id, config }) => ({ id: org_id, document: storedJson<unknown>(config, {}) })),
  ];
}

/** What cannot be read is damaged or under a lost key: the snapshot has disabled it. */
function readable<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
