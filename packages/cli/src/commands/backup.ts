import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openEnvironment } from '@firsthand/server/stores/event-log/lmdb/environment.ts';
import { EMBEDDED, requireEmbedded } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/**
 * A copy of the embedded stores, each of one moment, taken while the service runs. The log comes first and the configuration last: an
 * event of a pipeline that the configuration does not know would be lost, the other way round nothing is.
 */
export async function backup(args: string[]): Promise<void> {
  const { to } = readOptions(args, { required: ['to'] });
  const settings = settingsOrFail();
  requireEmbedded(settings, 'pg_dump');
  const { dataDir } = settings;
  if (!existsSync(join(dataDir, EMBEDDED.config))) throw new CommandError(`There is nothing to back up in ${dataDir}.`);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (readdirSync(to).length > 0) throw new CommandError(`${to} is not empty.`);
  const copied: string[] = [];
  if (settings.natsUrl === undefined && existsSync(join(dataDir, EMBEDDED.log))) {
    await copyLog(join(dataDir, EMBEDDED.log), join(to, EMBEDDED.log));
    copied.push(EMBEDDED.log);
  }
  for (const file of [EMBEDDED.observe, EMBEDDED.config]) {
    if (!existsSync(join(dataDir, file))) continue;
    copySqlite(join(dataDir, file), join(to, file));
    copied.push(file);
  }
  if (existsSync(join(dataDir, EMBEDDED.secretKey))) {
    copyFileSync(join(dataDir, EMBEDDED.secretKey), join(to, EMBEDDED.secretKey));
    copied.push(EMBEDDED.secretKey);
  }
  print({ to, copied });
}

async function copyLog(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  const environment = openEnvironment({
    path: from,
    onFatal(error) {
      throw error;
    },
  });
  try {
    await environment.root.backup(to, true);
  } finally {
    await environment.close();
  }
}

function copySqlite(from: string, to: string): void {
  const database = new DatabaseSync(from, { timeout: 5_000 });
  try {
    database.prepare('vacuum into ?').run(to);
  } finally {
    database.close();
  }
}
