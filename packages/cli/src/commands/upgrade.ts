import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { schemaStatus } from '@firsthand/server/stores/config/migrate.ts';
import { openUnmigrated, SQLITE_FILE } from '@firsthand/server/stores/config/open.ts';
import { VERSION } from '@firsthand/server/version.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Migrations run at the start of the new version; this command only says what they will do. */
export async function upgrade(args: string[]): Promise<void> {
  const { check } = readOptions(args, { required: [], flags: ['check'] });
  if (!check) throw new CommandError('Migrations run when the new version starts. Use firsthand upgrade --check to see what it will do.');
  const { databaseUrl, dataDir } = settingsOrFail();
  if (databaseUrl === undefined && !existsSync(join(dataDir, SQLITE_FILE)))
    throw new CommandError(`There is no installation in ${dataDir}.`);
  const store = openUnmigrated({ databaseUrl, dataDir });
  try {
    const status = await schemaStatus(store.db);
    print({ version: VERSION, ...status });
    if (status.schema > status.known)
      throw new CommandError(`The database is at schema ${status.schema}, this version knows ${status.known}: install the newer version.`);
  } finally {
    await store.close();
  }
}
