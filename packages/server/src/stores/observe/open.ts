import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { postgresDialect } from '../config/postgres.ts';
import { sqliteDialect } from '../config/sqlite.ts';
import { type ObserveDb, type ObserveTables, prepareObserve } from './schema.ts';

export const OBSERVE_FILE = 'observe.sqlite';

/** A file (or a pool) of its own: a burst of traces never keeps a management request waiting for the configuration store. */
export async function openObserve(options: {
  databaseUrl?: string | undefined;
  dataDir: string;
  onConnectionError: (error: Error) => void;
}): Promise<ObserveDb & { close(): Promise<void> }> {
  const { databaseUrl, dataDir } = options;
  if (databaseUrl === undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const db = new Kysely<ObserveTables>({
    dialect:
      databaseUrl === undefined ? sqliteDialect(join(dataDir, OBSERVE_FILE)) : postgresDialect(databaseUrl, options.onConnectionError),
  });
  const observe: ObserveDb = { db, engine: databaseUrl === undefined ? 'sqlite' : 'postgres' };
  try {
    // A process that is killed loses nothing under `normal`; after a power cut the last second of traces may be missing, never torn.
    if (observe.engine === 'sqlite') await sql.raw('pragma synchronous = normal').execute(db);
    await prepareObserve(observe);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { ...observe, close: () => db.destroy() };
}
