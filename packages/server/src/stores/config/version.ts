import { sql } from 'kysely';
import { CONFIG_CHANNEL } from './change-notices.ts';
import { engineOf } from './open.ts';
import type { Db } from './schema.ts';

export interface ConfigVersion {
  version: number;
  /** The newest version that must reach every process within a second: something was disabled or deleted, or its secret was rotated. */
  urgent_version: number;
}

export function readConfigVersion(db: Db): Promise<ConfigVersion> {
  return db.selectFrom('config_version').select(['version', 'urgent_version']).where('id', '=', 1).executeTakeFirstOrThrow();
}

/**
 * The next version, for the rows of this transaction. The update also locks out other configuration writers. So a readable version is
 * complete, and a slug found free stays free until this transaction takes it.
 */
export async function nextConfigVersion(tx: Db): Promise<number> {
  const row = await tx
    .updateTable('config_version')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', 1)
    .returning('version')
    .executeTakeFirstOrThrow();
  // Sent at the commit, once per transaction.
  if (engineOf(tx) === 'postgres') await notify(tx, CONFIG_CHANNEL, '');
  return row.version;
}

export async function notify(db: Db, channel: string, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db);
}

export async function markUrgent(tx: Db, version: number): Promise<void> {
  await tx.updateTable('config_version').set({ urgent_version: version }).where('id', '=', 1).execute();
}
