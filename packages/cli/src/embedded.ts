import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Settings } from '@firsthand/server/config.ts';
import { SQLITE_FILE } from '@firsthand/server/stores/config/open.ts';
import { OBSERVE_FILE } from '@firsthand/server/stores/observe/tables.ts';
import { CommandError } from './failure.ts';

/** What DATA_DIR holds. */
export const EMBEDDED = { config: SQLITE_FILE, observe: OBSERVE_FILE, log: 'log', secretKey: 'secret-key' } as const;

export function requireEmbedded(settings: Settings, postgresTool: string): void {
  if (settings.databaseUrl !== undefined)
    throw new CommandError(
      `DATABASE_URL is set: back up and restore PostgreSQL with its own tools (${postgresTool}), JetStream with \`nats stream backup\` and \`nats stream restore\`, and keep SECRET_KEY.`,
    );
}

/** Leaving the write-ahead log needs the file for oneself alone: it fails while any other process has it open. */
export function requireStopped(dataDir: string): void {
  const file = join(dataDir, EMBEDDED.config);
  if (!existsSync(file)) return;
  const database = new DatabaseSync(file, { timeout: 200 });
  try {
    database.exec('pragma journal_mode = delete');
  } catch {
    throw new CommandError('The service is running on this DATA_DIR: stop it first.');
  } finally {
    database.close();
  }
}
