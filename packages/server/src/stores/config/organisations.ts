import type { KeyedOrganisation } from '../../secrets/cipher.ts';
import type { Db, Stamp } from './schema.ts';

export interface Organisation {
  id: string;
  name: string;
  created_at: string;
  updated_at: string;
}
const PUBLIC_COLUMNS = ['id', 'name', 'created_at', 'updated_at'] as const;

export function findOrganisation(db: Db, orgId: string): Promise<Organisation | undefined> {
  return db.selectFrom('organisations').select(PUBLIC_COLUMNS).where('id', '=', orgId).executeTakeFirst();
}

/** The organisation created at the first start. */
export function findFirstOrganisation(db: Db): Promise<{ id: string } | undefined> {
  return db.selectFrom('organisations').select('id').orderBy('created_at').orderBy('id').limit(1).executeTakeFirst();
}

/** The data key that the cipher needs for the organisation's secrets. */
export function organisationKey(db: Db, orgId: string): Promise<KeyedOrganisation> {
  return db.selectFrom('organisations').select(['id', 'data_key']).where('id', '=', orgId).executeTakeFirstOrThrow();
}

export async function insertOrganisation(
  tx: Db,
  organisation: { id: string; name: string; data_key: string },
  stamp: Stamp,
): Promise<void> {
  await tx
    .insertInto('organisations')
    .values({ ...organisation, row_version: stamp.row_version, created_at: stamp.now, updated_at: stamp.now })
    .execute();
  await tx.insertInto('audit_heads').values({ org_id: organisation.id, seq: 0, hash: '' }).execute();
}

export function renameOrganisation(tx: Db, orgId: string, name: string, stamp: Stamp): Promise<Organisation | undefined> {
  return tx
    .updateTable('organisations')
    .set({ name, row_version: stamp.row_version, updated_at: stamp.now })
    .where('id', '=', orgId)
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirst();
}

export function listKeyedOrganisations(db: Db): Promise<KeyedOrganisation[]> {
  return db.selectFrom('organisations').select(['id', 'data_key']).orderBy('id').execute();
}
export async function replaceDataKey(tx: Db, orgId: string, dataKey: string): Promise<void> {
  await tx.updateTable('organisations').set({ data_key: dataKey }).where('id', '=', orgId).execute();
}
