import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Settings } from '@firsthand/server/config.ts';
import { SQLITE_FILE } from '@firsthand/server/stores/config/open.ts';
import { OBSERVE_FILE } from '@firsthand/server/stores/observe/tables.ts';
import { CommandError } from './failure.ts';

/** File names inside DATA_DIR. */
export const EMBEDDED = { config: SQLITE_FILE, observe: OBSERVE_FILE, log: 'log', secretKey: 'secret-key' } as const;

export function requireEmbedded(settings: Settings, postgresTool: string): void {
  if (settings.databaseUrl !== undefined)
    throw new CommandError(
      `DATABASE_URL is set: back up and restore PostgreSQL with its own tools (${postgresTool}), JetStream with \`nats stream backup\` and \`nats stream restore\`, and keep SECRET_KEY.`,
    );
}

const SQLITE_BUSY = 5;

/** Switching the journal mode needs exclusive access, so it fails while any other process has the file open. */
export function requireStopped(dataDir: string): void {
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
