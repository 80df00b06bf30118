import { type DataLayerConfig, DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import type { Db, Stamp } from './schema.ts';
import { storedJson } from './stored-json.ts';

export interface DataLayer {
  org_id: string;
  config: DataLayerConfig;
  /** Number of writes; 0 if never written. */
  version: number;
  updated_at: string | null;
  updated_by: string | null;
}
export interface StoredDataLayer extends DataLayer {
  /** False if the stored value is damaged; `config` then holds the defaults of a new organisation. */
  readable: boolean;
}

export async function findDataLayer(db: Db, orgId: string): Promise<StoredDataLayer> {
  const row = await db
    .selectFrom('data_layers')
    .select(['config', 'version', 'updated_at', 'updated_by'])
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (row === undefined)
    return { org_id: orgId, config: DEFAULT_DATA_LAYER, version: 0, updated_at: null, updated_by: null, readable: true };
  const config = storedJson<DataLayerConfig | null>(row.config, null);
  return { ...row, org_id: orgId, config: config ?? DEFAULT_DATA_LAYER, readable: config !== null };
}

export async function saveDataLayer(
  tx: Db,
  orgId: string,
  config: DataLayerConfig,
  version: number,
  userId: string,
  stamp: Stamp,
): Promise<DataLayer> {
  const values = { config: JSON.stringify(config), version, row_version: stamp.row_version, updated_at: stamp.now, updated_by: userId };
  await tx
    .insertInto('data_layers')
    .values({ org_id: orgId, ...values })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(values))
    .execute();
  return { org_id: orgId, config, version, updated_at: stamp.now, updated_by: userId };
}
