import type { ConnectRequestRow, Db } from './schema.ts';

/** Also removes expired requests, so that abandoned ones do not pile up. */
export async function insertConnectRequest(db: Db, row: ConnectRequestRow, now: string): Promise<void> {
  await db.deleteFrom('connect_requests').where('expires_at', '<=', now).execute();
  await db.insertInto('connect_requests').values(row).execute();
}

/** Removes the request and returns it: of several calls with the same state one gets it. */
export function takeConnectRequest(
  db: Db,
  request: Pick<ConnectRequestRow, 'state_hash' | 'browser_hash'>,
  now: string,
): Promise<ConnectRequestRow | undefined> {
  return db
    .deleteFrom('connect_requests')
    .where('state_hash', '=', request.state_hash)
    .where('browser_hash', '=', request.browser_hash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}
