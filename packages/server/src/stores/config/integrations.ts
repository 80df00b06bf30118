import { type Integration, type IntegrationFields, integration } from '@firsthand/core/config/integration.ts';
import { rowBytes } from './large-columns.ts';
import { anyContains, countOf, decodeInTurns, type Page, type Paged, readBoundedPage } from './paging.ts';
import type { Db, Stamp } from './schema.ts';
import { lenientJson } from './stored-json.ts';

/** With what its template and its revision say about it. */
export function selectIntegrations(db: Db) {
  return db
    .selectFrom('integrations')
    .innerJoin('templates', 'templates.id', 'integrations.template_id')
    .innerJoin('revisions', (join) =>
      join
        .onRef('revisions.template_id', '=', 'integrations.template_id')
        .onRef('revisions.revision_number', '=', 'integrations.revision_number'),
    )
    .selectAll('integrations')
    .select(['templates.vendor', 'revisions.delivery_mode']);
}
function select(db: Db, orgId: string) {
  return selectIntegrations(db).where('integrations.org_id', '=', orgId).where('integrations.deleted_at', 'is', null);
}

export async function findIntegration(db: Db, orgId: string, pipelineId: string, id: string): Promise<Integration | undefined> {
  const row = await select(db, orgId)
    .where('integrations.pipeline_id', '=', pipelineId)
    .where('integrations.id', '=', id)
    .executeTakeFirst();
  return row && integration.fromRow(row, lenientJson);
}

async function requireIntegration(tx: Db, orgId: string, pipelineId: string, id: string): Promise<Integration> {
  const found = await findIntegration(tx, orgId, pipelineId, id);
  if (found === undefined) throw new Error(`integration ${id} is not where it was written`);
  return found;
}

/** For callers that do not know the pipeline. */
export async function findIntegrationById(db: Db, orgId: string, id: string): Promise<Integration | undefined> {
  const row = await select(db, orgId).where('integrations.id', '=', id).executeTakeFirst();
  return row && integration.fromRow(row, lenientJson);
}

/** Also of deleted ones: traces outlive them. */
export async function integrationNames(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, Pick<Integration, 'name' | 'vendor'>>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('integrations')
    .innerJoin('templates', 'templates.id', 'integrations.template_id')
    .select(['integrations.id', 'integrations.name', 'templates.vendor'])
    .where('integrations.org_id', '=', orgId)
    .where('integrations.id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, ...named }) => [id, named]));
}

/** Oldest first, the order in which they were assigned. */
export async function listIntegrations(db: Db, orgId: string, pipelineId: string, page: Page): Promise<Paged<Integration>> {
  const all = db
    .selectFrom('integrations')
    .where('org_id', '=', orgId)
    .where('pipeline_id', '=', pipelineId)
    .where('deleted_at', 'is', null);
  const listed = select(db, orgId)
    .where('integrations.pipeline_id', '=', pipelineId)
    .orderBy('integrations.created_at')
    .orderBy('integrations.id');
  const sized = listed.clearSelect().select(rowBytes('integrations'));
  const { rows, total } = await readBoundedPage(listed, sized, page, () => countOf(all));
  return { rows: await decodeInTurns(rows, (row) => integration.fromRow(row, lenientJson)), total };
}

export interface IntegrationFilter {
  /** Part of the name. */
  search?: string | undefined;
  vendor?: string | undefined;
  template_id?: string | undefined;
  ids?: readonly string[] | undefined;
  pipeline_ids?: readonly string[] | undefined;
}
export type ListedIntegration = Integration & { pipeline_name: string };
/** Those of all live pipelines of the organisation, oldest first. */
export async function listAllIntegrations(db: Db, orgId: string, filter: IntegrationFilter, page: Page): Promise<Paged<ListedIntegration>> {
  const { search, vendor, template_id, ids, pipeline_ids } = filter;
  // Without what only the page shows: its offset passes over all rows before it, and the count over all rows.
  let matching = db
    .selectFrom('integrations')
    .innerJoin('pipelines', 'pipelines.id', 'integrations.pipeline_id')
    .where('integrations.org_id', '=', orgId)
    .where('integrations.deleted_at', 'is', null)
    .where('pipelines.deleted_at', 'is', null);
  if (search !== undefined) matching = matching.where(anyContains(['integrations.name'], search));
  if (vendor !== undefined)
    matching = matching.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('templates')
          .select('templates.id')
          .whereRef('templates.id', '=', 'integrations.template_id')
          .where('templates.vendor', '=', vendor),
      ),
    );
  if (template_id !== undefined) matching = matching.where('integrations.template_id', '=', template_id);
  if (ids !== undefined) matching = matching.where('integrations.id', 'in', orNone(ids));
  if (pipeline_ids !== undefined) matching = matching.where('integrations.pipeline_id', 'in', orNone(pipeline_ids));
  const ordered = matching.orderBy('integrations.created_at').orderBy('integrations.id');
  const listed = select(db, orgId)
    .innerJoin('pipelines', 'pipelines.id', 'integrations.pipeline_id')
    .select('pipelines.name as pipeline_name')
    .orderBy('integrations.created_at')
    .orderBy('integrations.id');
  const pageOf = (limit: number, offset: number) => ordered.select('integrations.id').limit(limit).offset(offset);
  const { rows, total } = await readBoundedPage(
    { limit: (limit) => ({ offset: (offset) => listed.where('integrations.id', 'in', pageOf(limit, offset)) }) },
    ordered.select(rowBytes('integrations')),
    page,
    () => countOf(matching),
  );
  return {
    rows: await decodeInTurns(rows, ({ pipeline_name, ...row }) => ({ ...integration.fromRow(row, lenientJson), pipeline_name })),
    total,
  };
}
/** An empty list of values is no SQL. */
const orNone = (ids: readonly string[]): readonly string[] => (ids.length === 0 ? [''] : ids);

export async function insertIntegration(
  tx: Db,
  identity: { id: string; org_id: string; pipeline_id: string; template_id: string },
  fields: IntegrationFields,
  stamp: Stamp,
): Promise<Integration> {
  await tx
    .insertInto('integrations')
    .values({
      ...integration.toColumns(fields),
      ...identity,
      row_version: stamp.row_version,
      created_at: stamp.now,
      updated_at: stamp.now,
      deleted_at: null,
    })
    .execute();
  return await requireIntegration(tx, identity.org_id, identity.pipeline_id, identity.id);
}

export async function updateIntegration(tx: Db, before: Integration, sent: Partial<IntegrationFields>, stamp: Stamp): Promise<Integration> {
  const { org_id, pipeline_id, id } = before;
  await tx
    .updateTable('integrations')
    .set({ ...integration.toChangedColumns(sent), row_version: stamp.row_version, updated_at: stamp.now })
    .where('org_id', '=', org_id)
    .where('pipeline_id', '=', pipeline_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .execute();
  return await requireIntegration(tx, org_id, pipeline_id, id);
}

export async function deleteIntegration(tx: Db, orgId: string, pipelineId: string, id: string, stamp: Stamp): Promise<void> {
  await tx
    .updateTable('integrations')
    .set({ deleted_at: stamp.now, row_version: stamp.row_version })
    .where('org_id', '=', orgId)
    .where('pipeline_id', '=', pipelineId)
    .where('id', '=', id)
    .execute();
}
