import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { postgresDialect } from '../config/postgres.ts';
import { sqliteDialect } from '../config/sqlite.ts';
import { type ObserveDb, prepareObserve } from './schema.ts';
import { OBSERVE_FILE, type ObserveTables } from './tables.ts';

interface ObserveOptions {
  databaseUrl?: string | undefined;
  dataDir: string;
  onConnectionError: (error: Error) => void;
}

/** A file (or a pool) of its own: a burst of traces never keeps a management request waiting for the configuration store. */
export async function openObserve(options: ObserveOptions): Promise<ObserveDb & { close(): Promise<void> }> {
  if (options.databaseUrl === undefined) mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const observe = await connectObserve(options);
  try {
    await prepareObserve(observe);
  } catch (error) {
    await observe.db.destroy();
    throw error;
  }
  return { ...observe, close: () => observe.db.destroy() };
}

/** A further connection to a store that stands. */
export async function connectObserve(options: ObserveOptions): Promise<ObserveDb> {
  const { databaseUrl, dataDir } = options;
  const db = new Kysely<ObserveTables>({
    dialect:
      databaseUrl === undefined ? sqliteDialect(join(dataDir, OBSERVE_FILE)) : postgresDialect(databaseUrl, options.onConnectionError),
  });
  // A process that is killed loses nothing under `normal`; after a power cut the last second of traces may be missing, never torn.
  if (databaseUrl === undefined) await sql.raw('pragma synchronous = normal').execute(db);
  return { db, engine: databaseUrl === undefined ? 'sqlite' : 'postgres' };
}
