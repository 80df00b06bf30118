import { COUNT_BUDGET } from '@firsthand/core/config/budget.ts';
import { type Template, type TemplateFields, template } from '@firsthand/core/config/template.ts';
import { anyContains, countOf, type Page, type Paged, readPage } from './paging.ts';
import type { Db, Stamp } from './schema.ts';

export function findTemplate(db: Db, orgId: string, id: string): Promise<Template | undefined> {
  return db
    .selectFrom('templates')
    .select(template.columns)
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

export interface TemplateFilter {
  search?: string | undefined;
  vendor?: string | undefined;
}
/** Newest first. */
export async function listTemplates(db: Db, orgId: string, filter: TemplateFilter, page: Page): Promise<Paged<Template>> {
  let query = db.selectFrom('templates').where('org_id', '=', orgId).where('deleted_at', 'is', null);
  if (filter.vendor !== undefined) query = query.where('vendor', '=', filter.vendor);
  if (filter.search !== undefined) query = query.where(anyContains(['name'], filter.search));
  const listed = query.select(template.columns).orderBy('created_at', 'desc').orderBy('id', 'desc');
  return readPage(listed, page, () => countOf(query));
}

/** Live ones. An index alone counts all of them, and most organisations never had as many as the budget allows. */
export async function countTemplates(db: Db, orgId: string): Promise<number> {
  const all = db.selectFrom('templates').where('org_id', '=', orgId);
  const ever = await countOf(all);
  return ever < COUNT_BUDGET.organisation_templates ? ever : await countOf(all.where('deleted_at', 'is', null));
}

export function insertTemplate(tx: Db, identity: { id: string; org_id: string }, fields: TemplateFields, stamp: Stamp): Promise<Template> {
  return tx
    .insertInto('templates')
    .values({ ...identity, ...fields, row_version: stamp.row_version, created_at: stamp.now, updated_at: stamp.now, deleted_at: null })
    .returning(template.columns)
    .executeTakeFirstOrThrow();
}

export function updateTemplate(
  tx: Db,
  orgId: string,
  id: string,
  fields: Partial<Pick<Template, 'name' | 'description'>>,
  stamp: Stamp,
): Promise<Template> {
  return tx
    .updateTable('templates')
    .set({ ...fields, row_version: stamp.row_version, updated_at: stamp.now })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(template.columns)
    .executeTakeFirstOrThrow();
}

/** Soft delete, because its revisions are immutable and stay. */
export async function deleteTemplate(tx: Db, orgId: string, id: string, stamp: Stamp): Promise<void> {
  await tx
    .updateTable('templates')
    .set({ deleted_at: stamp.now, row_version: stamp.row_version })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/** The pipelines that currently use it. */
export async function pipelinesUsing(db: Db, orgId: string, templateId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('integrations')
    .innerJoin('pipelines', 'pipelines.id', 'integrations.pipeline_id')
    .select('integrations.pipeline_id')
    .distinct()
    .where('integrations.org_id', '=', orgId)
    .where('integrations.template_id', '=', templateId)
    .where('integrations.deleted_at', 'is', null)
    .where('pipelines.deleted_at', 'is', null)
    .orderBy('integrations.pipeline_id')
    .execute();
  return rows.map((row) => row.pipeline_id);
}
