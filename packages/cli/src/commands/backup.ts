import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Settings } from '@firsthand/server/config.ts';
import { openEnvironment } from '@firsthand/server/stores/event-log/lmdb/environment.ts';
import { listFiles, writeManifest } from '../backup/manifest.ts';
import { checkStores } from '../backup/verify.ts';
import { EMBEDDED, requireEmbedded } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Copies the embedded stores while the service runs, verifies the copy, and writes its manifest last. */
export async function backup(args: string[]): Promise<void> {
  const { to } = readOptions(args, { required: ['to'] });
  const settings = settingsOrFail();
  requireEmbedded(settings, 'pg_dump');
  if (!existsSync(join(settings.dataDir, EMBEDDED.config))) throw new CommandError(`There is nothing to back up in ${settings.dataDir}.`);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (readdirSync(to).length > 0) throw new CommandError(`${to} is not empty.`);
  chmodSync(to, 0o700);
  try {
    const copied = await copyStores(settings, to);
    const faults = await checkStores(to);
    if (faults.length > 0)
      throw new CommandError(`The stores in ${settings.dataDir} are damaged; no backup was made.\n${faults.join('\n')}`);
    for (const path of listFiles(to)) chmodSync(join(to, path), 0o600);
    await writeManifest(to, new Date());
    print({ to, copied });
  } catch (error) {
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
    throw error;
  }
}

/**
 * Each copy is a consistent snapshot. The log is copied first and the configuration last: events of a pipeline that the configuration
 * does not know would be lost, but a pipeline whose latest events are missing does no harm.
 */
async function copyStores({ dataDir, natsUrl }: Settings, to: string): Promise<string[]> {
  const copied: string[] = [];
  if (natsUrl === undefined && existsSync(join(dataDir, EMBEDDED.log))) {
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
  return copied;
}

async function copyLog(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
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
