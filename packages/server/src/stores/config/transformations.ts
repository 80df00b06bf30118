import { MAX_POSITION, type Transformation, type TransformationFields, transformation } from '@firsthand/core/config/transformation.ts';
import { rowBytes } from './large-columns.ts';
import { countOf, fitting, type Page, type Paged, readPage } from './paging.ts';
import type { Db, Stamp, TransformationRow } from './schema.ts';
import { readInTurns } from './sized-rows.ts';
import { lenientJson } from './stored-json.ts';

const read = (row: TransformationRow): Transformation => transformation.fromRow(row, lenientJson);

function select(db: Db, orgId: string, pipelineId: string) {
  return db.selectFrom('transformations').where('org_id', '=', orgId).where('pipeline_id', '=', pipelineId);
}

export async function findTransformation(db: Db, orgId: string, pipelineId: string, id: string): Promise<Transformation | undefined> {
  const row = await select(db, orgId, pipelineId).selectAll().where('id', '=', id).executeTakeFirst();
  return row && read(row);
}

/** In execution order. The page ends at PAGE_BYTES. */
export async function listTransformations(db: Db, orgId: string, pipelineId: string, page: Page): Promise<Paged<Transformation>> {
  const query = select(db, orgId, pipelineId);
  const sized = query
    .select(['id', rowBytes('transformations')])
    .orderBy('position')
    .orderBy('id');
  const { rows: sizes, total } = await readPage(sized, page, () => countOf(query));
  const fitted = sizes.slice(0, fitting(sizes.map(({ bytes }) => Number(bytes))));
  return { rows: await readInTurns(fitted, (ids) => query.selectAll().where('id', 'in', ids).execute(), read), total };
}

export async function countTransformations(db: Db, orgId: string, pipelineId: string): Promise<number> {
  return await countOf(select(db, orgId, pipelineId));
}

/** In execution order. */
export async function listTransformationIds(db: Db, orgId: string, pipelineId: string): Promise<string[]> {
  const rows = await select(db, orgId, pipelineId).select('id').orderBy('position').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

export async function insertTransformation(
  tx: Db,
  identity: { id: string; org_id: string; pipeline_id: string },
  fields: TransformationFields,
  stamp: Stamp,
): Promise<Transformation> {
  const last = await select(tx, identity.org_id, identity.pipeline_id)
    .select((eb) => eb.fn.max<number | null>('position').as('position'))
    .executeTakeFirst();
  const row = await tx
    .insertInto('transformations')
    .values({
      ...transformation.toColumns({ ...fields, position: fields.position ?? Math.min((last?.position ?? 0) + 1, MAX_POSITION) }),
      ...identity,
      row_version: stamp.row_version,
      created_at: stamp.now,
      updated_at: stamp.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return read(row);
}

export async function updateTransformation(
  tx: Db,
  before: Transformation,
  sent: Partial<TransformationFields>,
  stamp: Stamp,
): Promise<Transformation> {
  const row = await tx
    .updateTable('transformations')
    .set({ ...transformation.toChangedColumns(sent), row_version: stamp.row_version, updated_at: stamp.now })
    .where('org_id', '=', before.org_id)
    .where('id', '=', before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return read(row);
}

export async function deleteTransformation(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('transformations').where('org_id', '=', orgId).where('id', '=', id).execute();
}

export async function orderTransformations(tx: Db, orgId: string, ids: string[], stamp: Stamp): Promise<void> {
  for (const [index, id] of ids.entries())
    await tx
      .updateTable('transformations')
      .set({ position: index + 1, row_version: stamp.row_version, updated_at: stamp.now })
      .where('org_id', '=', orgId)
      .where('id', '=', id)
      .execute();
}
