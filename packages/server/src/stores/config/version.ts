import type { Db } from './schema.ts';

export interface ConfigVersion {
  version: number;
  /** The newest version that must reach every process within a second: something was disabled, deleted, or its secret rotated. */
  urgent_version: number;
}

export function readConfigVersion(db: Db): Promise<ConfigVersion> {
  return db.selectFrom('config_version').select(['version', 'urgent_version']).where('id', '=', 1).executeTakeFirstOrThrow();
}

/**
 * The next version, for the rows of this transaction. The update is also the lock that puts writers of configuration in line: a version
 * that can be read is complete, and a slug that was free when looked for still is when it is taken.
 */
export async function nextConfigVersion(tx: Db): Promise<number> {
  const row = await tx
    .updateTable('config_version')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', 1)
    .returning('version')
    .executeTakeFirstOrThrow();
  return row.version;
}

export async function markUrgent(tx: Db, version: number): Promise<void> {
  await tx.updateTable('config_version').set({ urgent_version: version }).where('id', '=', 1).execute();
}
