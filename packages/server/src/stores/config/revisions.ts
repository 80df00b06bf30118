import type { DeliveryMode } from '@firsthand/core/config/resources.ts';
import { rowBytes } from './large-columns.ts';
import { countOf, type Page, type Paged, readBoundedPage } from './paging.ts';
import type { Db, RevisionRow } from './schema.ts';

/** As stored: the config without its secrets, and the sealed secrets. The routes open and mask them. */
export type StoredRevision = RevisionRow;

export function findRevision(db: Db, orgId: string, templateId: string, number: number): Promise<StoredRevision | undefined> {
  return db
    .selectFrom('revisions')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('template_id', '=', templateId)
    .where('revision_number', '=', number)
    .executeTakeFirst();
}

export function latestRevision(db: Db, orgId: string, templateId: string): Promise<StoredRevision | undefined> {
  return db
    .selectFrom('revisions')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('template_id', '=', templateId)
    .orderBy('revision_number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The newest revision of each template. */
export async function latestNumbers(db: Db, templateIds: readonly string[]): Promise<Map<string, number>> {
  if (templateIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('revisions')
    .where('template_id', 'in', [...new Set(templateIds)])
    .groupBy('template_id')
    .select(({ fn }) => ['template_id', fn.max('revision_number').as('latest')])
    .execute();
  return new Map(rows.map(({ template_id, latest }) => [template_id, latest]));
}

/** Newest first. */
export async function listRevisions(db: Db, orgId: string, templateId: string, page: Page): Promise<Paged<StoredRevision>> {
  const query = db.selectFrom('revisions').where('org_id', '=', orgId).where('template_id', '=', templateId);
  const ordered = query.orderBy('revision_number', 'desc');
  return readBoundedPage(ordered.selectAll(), ordered.select(rowBytes('revisions')), page, () => countOf(query));
}

export interface RevisionFields {
  config: string;
  secrets: string | null;
  delivery_mode: DeliveryMode;
  change_summary: string;
  created_by: string;
}
export function insertRevision(
  tx: Db,
  identity: { id: string; org_id: string; template_id: string; revision_number: number },
  fields: RevisionFields,
  now: string,
): Promise<StoredRevision> {
  return tx
    .insertInto('revisions')
    .values({ ...identity, ...fields, created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}
