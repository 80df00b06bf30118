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

/** Opens a separate file (or pool), so that a burst of traces never delays a management request to the configuration store. */
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

/** Opens another connection to an existing store. */
export async function connectObserve(options: ObserveOptions): Promise<ObserveDb> {
  const { databaseUrl, dataDir } = options;
  const db = new Kysely<ObserveTables>({
    dialect:
      databaseUrl === undefined ? sqliteDialect(join(dataDir, OBSERVE_FILE)) : postgresDialect(databaseUrl, options.onConnectionError),
  });
  // `normal` loses nothing when the process is killed. A power cut may lose the last second of traces, but never tears a row.
  if (databaseUrl === undefined) await sql.raw('pragma synchronous = normal').execute(db);
  return { db, engine: databaseUrl === undefined ? 'sqlite' : 'postgres' };
}
