import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Settings } from '@firsthand/server/config.ts';
import { requireDataDir, SQLITE_FILE } from '@firsthand/server/stores/data-dir.ts';
import { OBSERVE_FILE } from '@firsthand/server/stores/observe/tables.ts';
import { ownAlone } from '@firsthand/server/stores/sole-owner.ts';
import { CommandError } from './failure.ts';

/** File names inside DATA_DIR. */
export const EMBEDDED = { config: SQLITE_FILE, observe: OBSERVE_FILE, log: 'log', secretKey: 'secret-key' } as const;

export function requireEmbedded(settings: Settings, command: 'backup' | 'restore', postgresTool: string): void {
  if (settings.databaseUrl !== undefined)
    throw new CommandError(
      `DATABASE_URL is set: use ${postgresTool} for PostgreSQL and \`firsthand ${command} streams\` for NATS, see docs/guides/operations/backup.md.`,
    );
}

const SQLITE_BUSY = 5;

const WAIT_MS = 200;

/** Runs `work` while no service can start on the folder. Fails if one is running. */
export async function whileStopped<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  requireDataDir(dataDir);
  return await alone(dataDir, 'The service is running on this DATA_DIR: stop it first.', async () => {
    requireStopped(dataDir);
    return await work();
  });
}

/** Runs `work` while no other process owns the folder. */
export async function alone<T>(folder: string, otherwise: string, work: () => Promise<T>): Promise<T> {
  let owned: ReturnType<typeof ownAlone>;
  try {
    owned = ownAlone(folder, WAIT_MS);
  } catch (error) {
    if ((error as { cause?: { errcode?: number } }).cause?.errcode !== SQLITE_BUSY) throw error;
    throw new CommandError(otherwise);
  }
  try {
    return await work();
  } finally {
    await owned.close();
  }
}

/**
 * Switching the journal mode needs exclusive access, so it fails while any other process has the file open: also one whose log is on NATS,
 * which takes no lock of the folder.
 */
function requireStopped(dataDir: string): void {
  const file = join(dataDir, EMBEDDED.config);
  if (!existsSync(file)) return;
  const database = new DatabaseSync(file, { timeout: 200 });
  try {
    database.exec('pragma journal_mode = delete');
  } catch (error) {
    // A damaged database must not block the command, because a restore is how to repair it.
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) return;
    throw new CommandError('The service is running on this DATA_DIR: stop it first.');
  } finally {
    database.close();
  }
}
