import { longFields, pipeline } from '@firsthand/core/config/pipeline.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import type { Cipher } from '../../secrets/cipher.ts';
import { rowBytes } from './large-columns.ts';
import { organisationKey } from './organisations.ts';
import { openParameters } from './pipeline-parameters.ts';
import { openConfig } from './revision-configs.ts';
import type { Db } from './schema.ts';
import { rowsInTurns } from './sized-rows.ts';
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
export async function* changedDocuments(tx: Db, cipher: Cipher, orgId: string, after: number): AsyncGenerator<ChangedDocument> {
  const key = await organisationKey(tx, orgId);

  const pipelines = tx.selectFrom('pipelines').where('org_id', '=', orgId).where('row_version', '>', after).where('deleted_at', 'is', null);
  const sizedPipelines = await pipelines.select(['id', rowBytes('pipelines')]).execute();
  for await (const row of rowsInTurns(sizedPipelines, (ids) => pipelines.selectAll().where('id', 'in', ids).execute())) {
    const read = pipeline.fromRow(row, lenientJson);
    const { parameters } = readable(() => openParameters(cipher, key, read.parameters, row), { parameters: {}, sealed: [] });
    yield { id: row.id, document: undefined, beside: longFields({ ...read, parameters }) };
  }

  const integrations = tx
    .selectFrom('integrations')
    .innerJoin('revisions', (join) =>
      join
        .onRef('revisions.template_id', '=', 'integrations.template_id')
        .onRef('revisions.revision_number', '=', 'integrations.revision_number'),
    )
    .select('integrations.id')
    .where('integrations.org_id', '=', orgId)
    .where('integrations.row_version', '>', after)
    .where('integrations.deleted_at', 'is', null);
  const sizedConfigs = await integrations.select(rowBytes('revisions', 'integrations')).execute();
  const readConfigs = (ids: string[]) =>
    integrations
      .select(['integrations.event_filter', 'revisions.config', 'revisions.secrets'])
      .where('integrations.id', 'in', ids)
      .execute();
  for await (const { id, event_filter, ...revision } of rowsInTurns(sizedConfigs, readConfigs))
    yield {
      id,
      document: readable(() => openConfig(cipher, key, revision), {}),
      beside: event_filter === null ? null : storedJson<unknown>(event_filter, null),
    };

  const steps = tx.selectFrom('transformations').where('org_id', '=', orgId).where('row_version', '>', after);
  const sizedSteps = await steps.select(['id', rowBytes('transformations')]).execute();
  for await (const row of rowsInTurns(sizedSteps, (ids) => steps.selectAll().where('id', 'in', ids).execute()))
    yield { id: row.id, document: transformation.fromRow(row, lenientJson) };

  const sources = tx.selectFrom('webhook_sources').where('org_id', '=', orgId).where('row_version', '>', after);
  const sizedSources = await sources.select(['id', rowBytes('webhook_sources')]).execute();
  for await (const row of rowsInTurns(sizedSources, (ids) => sources.selectAll().where('id', 'in', ids).execute())) {
    const signing_secret = readable(() => cipher.openText(key, row.signing_secret), '');
    yield { id: row.id, document: { ...webhookSource.fromRow(row, lenientJson), signing_secret } };
  }

  const plans = tx.selectFrom('tracking_plans').select('pipeline_id as id').where('org_id', '=', orgId).where('row_version', '>', after);
  const sizedPlans = await plans.select(rowBytes('tracking_plans')).execute();
  for await (const { id, plan } of rowsInTurns(sizedPlans, (ids) => plans.select('plan').where('pipeline_id', 'in', ids).execute()))
    yield { id: trackingPlanId(id), document: storedJson<unknown>(plan, {}) };

  const layers = await tx
    .selectFrom('data_layers')
    .select(['org_id', 'config'])
    .where('org_id', '=', orgId)
    .where('row_version', '>', after)
    .execute();
  for (const { org_id, config } of layers) yield { id: org_id, document: storedJson<unknown>(config, {}) };
}

/** What cannot be read is damaged or under a lost key: the snapshot has disabled it. */
function readable<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
