import { type Pipeline, type PipelineFields, pipeline } from '@firsthand/core/config/pipeline.ts';
import { sql } from 'kysely';
import { countOf, likeContaining, type Page, type Paged, readPage } from './paging.ts';
import { maskUnsealed } from './pipeline-parameters.ts';
import type { Db, PipelineRow, Stamp } from './schema.ts';
import { lenientJson, storedJson } from './stored-json.ts';

export interface PipelineKeys {
  pipeline_key: string;
  /** Already sealed. */
  pipeline_key_secret: string;
  pipeline_key_secret_prefix: string;
  /** Of `sealParameters`. */
  parameter_secrets: string;
}

/** Leaves the sealed key secret out. */
const COLUMNS = [...pipeline.columns, 'parameter_secrets'] as const;
function read(row: Pick<PipelineRow, (typeof COLUMNS)[number]>): Pipeline {
  const found = pipeline.fromRow(row, lenientJson);
  return { ...found, parameters: maskUnsealed(found.parameters) };
}

/** The columns of a list. */
export const SUMMARY_COLUMNS = ['id', 'name', 'slug', 'type', 'pipeline_key', 'labels', 'enabled', 'created_at', 'updated_at'] as const;
export type PipelineSummary = Pick<Pipeline, (typeof SUMMARY_COLUMNS)[number]>;

export async function findPipeline(db: Db, orgId: string, id: string): Promise<Pipeline | undefined> {
  const row = await db
    .selectFrom('pipelines')
    .select(COLUMNS)
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row && read(row);
}

export interface PipelineFilter {
  search?: string | undefined;
  type?: Pipeline['type'] | undefined;
  label?: string | undefined;
  enabled?: boolean | undefined;
  /** Only these. */
  ids?: readonly string[] | undefined;
}
/** Newest first. */
export async function listPipelines(db: Db, orgId: string, filter: PipelineFilter, page: Page): Promise<Paged<PipelineSummary>> {
  let query = db.selectFrom('pipelines').where('org_id', '=', orgId).where('deleted_at', 'is', null);
  if (filter.search !== undefined)
    query = query.where(sql<boolean>`search_text like ${likeContaining(filter.search.toLowerCase())} escape '\\'`);
  if (filter.ids !== undefined) query = query.where('id', 'in', filter.ids.length === 0 ? [''] : filter.ids);
  if (filter.type !== undefined) query = query.where('type', '=', filter.type);
  if (filter.enabled !== undefined) query = query.where('enabled', '=', filter.enabled ? 1 : 0);
  const { label } = filter;
  if (label !== undefined)
    // Join by primary key only. With the organisation in the condition too, a planner without statistics compares every label with every
    // pipeline.
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('pipeline_labels')
          .select('label')
          .whereRef('pipeline_labels.pipeline_id', '=', 'pipelines.id')
          .where('label', '=', label),
      ),
    );
  const listed = query.select(SUMMARY_COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { rows, total } = await readPage(listed, page, () => countOf(query));
  return { rows: rows.map((row) => ({ ...row, labels: storedJson<string[]>(row.labels, []), enabled: row.enabled === 1 })), total };
}

export async function insertPipeline(
  tx: Db,
  identity: { id: string; org_id: string },
  fields: PipelineFields,
  keys: PipelineKeys,
  stamp: Stamp,
): Promise<Pipeline> {
  const row = await tx
    .insertInto('pipelines')
    .values({
      ...pipeline.toColumns(fields),
      ...identity,
      search_text: searchText(fields),
      ...keys,
      row_version: stamp.row_version,
      created_at: stamp.now,
      updated_at: stamp.now,
      deleted_at: null,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  await replaceLabels(tx, identity.org_id, identity.id, fields.labels);
  return read(row);
}

/** Parameters that are sent come from `sealParameters`, with their secrets. */
export async function updatePipeline(
  tx: Db,
  before: Pipeline,
  { parameter_secrets, ...sent }: Partial<PipelineFields & Pick<PipelineKeys, 'parameter_secrets'>>,
  stamp: Stamp,
): Promise<Pipeline> {
  const row = await tx
    .updateTable('pipelines')
    .set({
      ...pipeline.toChangedColumns(sent),
      ...(parameter_secrets === undefined ? {} : { parameter_secrets }),
      search_text: searchText({ ...before, ...sent }),
      row_version: stamp.row_version,
      updated_at: stamp.now,
    })
    .where('org_id', '=', before.org_id)
    .where('id', '=', before.id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  if (sent.labels !== undefined) await replaceLabels(tx, before.org_id, before.id, sent.labels);
  return read(row);
}

export async function replacePipelineSecret(
  tx: Db,
  orgId: string,
  id: string,
  secret: Pick<PipelineKeys, 'pipeline_key_secret' | 'pipeline_key_secret_prefix'>,
  stamp: Stamp,
): Promise<Pipeline | undefined> {
  const row = await tx
    .updateTable('pipelines')
    .set({ ...secret, row_version: stamp.row_version, updated_at: stamp.now })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && read(row);
}

/** For data that is compiled with the pipeline (its tracking plan): makes the snapshot treat the pipeline as changed. */
export async function touchPipeline(tx: Db, orgId: string, id: string, stamp: Stamp): Promise<void> {
  await tx.updateTable('pipelines').set({ row_version: stamp.row_version }).where('org_id', '=', orgId).where('id', '=', id).execute();
}

/** Soft delete: the row stays, but its key and slug are no longer in use. */
export async function deletePipeline(tx: Db, orgId: string, id: string, stamp: Stamp): Promise<boolean> {
  const row = await tx
    .updateTable('pipelines')
    .set({ deleted_at: stamp.now, row_version: stamp.row_version })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function pipelineExists(db: Db, orgId: string, id: string): Promise<boolean> {
  const query = db.selectFrom('pipelines').select('id').where('org_id', '=', orgId).where('id', '=', id).where('deleted_at', 'is', null);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Also of a deleted pipeline: what its events left outlives it. */
export async function pipelineIsKnown(db: Db, orgId: string, id: string): Promise<boolean> {
  const query = db.selectFrom('pipelines').select('id').where('org_id', '=', orgId).where('id', '=', id);
  return (await query.executeTakeFirst()) !== undefined;
}

/** The slugs in use that start with `prefix`, except one pipeline's own. */
export async function slugsInUse(tx: Db, orgId: string, prefix: string, exceptId?: string): Promise<Set<string>> {
  let query = tx
    .selectFrom('pipelines')
    .select('slug')
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .where('slug', '>=', prefix)
    .where('slug', '<', `${prefix}~`);
  if (exceptId !== undefined) query = query.where('id', '<>', exceptId);
  return new Set((await query.execute()).map((row) => row.slug));
}

async function replaceLabels(tx: Db, orgId: string, pipelineId: string, labels: string[]): Promise<void> {
  await tx.deleteFrom('pipeline_labels').where('pipeline_id', '=', pipelineId).execute();
  if (labels.length === 0) return;
  await tx
    .insertInto('pipeline_labels')
    .values(labels.map((label) => ({ pipeline_id: pipelineId, org_id: orgId, label })))
    .execute();
}

function searchText({ name, slug }: Pick<Pipeline, 'name' | 'slug'>): string {
  return `${name}\n${slug}`.toLowerCase();
}
