import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { postgresDialect } from '../config/postgres.ts';
import { namingFile } from '../data-dir.ts';
import { adoptRows } from './adopt.ts';
import { kyselyWriter } from './kysely-writer.ts';
import { ReadThread } from './read-thread.ts';
import { type ObserveStore, prepareObserve } from './schema.ts';
import { openSqliteWriter } from './sqlite-writer.ts';
import { OBSERVE_FILE } from './tables.ts';
import { ThreadDialect } from './thread-dialect.ts';
import type { Writer } from './writer.ts';

const ADOPT_AT_START_MS = 500;

interface ObserveOptions {
  databaseUrl?: string | undefined;
  dataDir: string;
  onConnectionError: (error: Error) => void;
}

/** Opens a separate file (or pool), so that a burst of traces never delays a management request to the configuration store. */
export async function openObserve(options: ObserveOptions): Promise<ObserveStore & { close(): Promise<void> }> {
  const { databaseUrl, dataDir } = options;
  const observe = connectObserve(options);
  try {
    if (databaseUrl === undefined) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      // In this thread: it takes milliseconds, and the thread for queries starts only when somebody asks.
      const writer = openSqliteWriter(join(dataDir, OBSERVE_FILE));
      await prepareObserve(writer);
      await adoptFirst(writer);
      writer.close();
    } else await prepareObserve(kyselyWriter(observe));
  } catch (error) {
    await closeObserve(observe);
    throw databaseUrl === undefined ? namingFile(join(dataDir, OBSERVE_FILE), error) : error;
  }
  return { ...observe, close: () => closeObserve(observe) };
}

/** Traces of an earlier version are visible once they are adopted: most installations need only this. The sweeper adopts the rest. */
async function adoptFirst(writer: Writer): Promise<void> {
  const until = performance.now() + ADOPT_AT_START_MS;
  while (performance.now() < until && (await adoptRows(writer)) > 0);
}

/** Opens another connection to an existing store. */
export function connectObserve({ databaseUrl, dataDir, onConnectionError }: ObserveOptions): ObserveStore {
  if (databaseUrl !== undefined)
    return {
      db: new Kysely({ dialect: postgresDialect(databaseUrl, onConnectionError) }),
      engine: 'postgres',
      thread: new ReadThread(undefined),
    };
  const thread = new ReadThread(join(dataDir, OBSERVE_FILE));
  return { db: new Kysely({ dialect: new ThreadDialect(thread) }), engine: 'sqlite', thread };
}
export async function closeObserve({ db, thread }: ObserveStore): Promise<void> {
  await db.destroy();
  await thread.close();
}
