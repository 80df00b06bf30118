import { join } from 'node:path';
import { Kysely, PostgresAdapter } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { requireConfiguration, requireDataDir, SQLITE_FILE } from '../data-dir.ts';
import { finishInterruptedRestore } from '../interrupted-restore.ts';
import { migrate } from './migrate.ts';
import type { Engine } from './migrations/migration.ts';
import { postgresDialect } from './postgres.ts';
import type { Db, Schema } from './schema.ts';
import { sqliteDialect } from './sqlite.ts';

export interface ConfigStoreOptions {
  /** `postgres://…`; without it the store is a SQLite file in `dataDir`. */
  databaseUrl?: string | undefined;
  dataDir: string;
  clock: Clock;
  /** Receives errors of idle connections, which no query can report. */
  onConnectionError?: (error: Error) => void;
}
export interface ConfigStore {
  db: Kysely<Schema>;
  engine: Engine;
  close(): Promise<void>;
}

/** Opens the store and migrates its schema. */
export async function openConfigStore(options: ConfigStoreOptions): Promise<ConfigStore> {
  const store = openUnmigrated(options);
  try {
    await migrate(store.db, store.engine, () => options.clock.now());
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Opens the store as it is. */
export function openUnmigrated({ databaseUrl, dataDir, onConnectionError = () => {} }: Omit<ConfigStoreOptions, 'clock'>): ConfigStore {
  const engine: Engine = databaseUrl === undefined ? 'sqlite' : 'postgres';
  if (databaseUrl === undefined) {
    requireDataDir(dataDir);
    finishInterruptedRestore(dataDir);
    requireConfiguration(dataDir);
  }
  const db = new Kysely<Schema>({
    dialect: databaseUrl === undefined ? sqliteDialect(join(dataDir, SQLITE_FILE)) : postgresDialect(databaseUrl, onConnectionError),
  });
  return { db, engine, close: () => db.destroy() };
}

/** For the few queries that differ between engines. */
export function engineOf(db: Db): Engine {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}
