import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '@firsthand/server/config.ts';
import { openUnmigrated } from '@firsthand/server/stores/config/open.ts';
import { requireConfiguration, requireDataDir, requireStores } from '@firsthand/server/stores/data-dir.ts';
import { makeFolder } from '@firsthand/server/stores/make-folder.ts';
import { copyStores } from '../backup/copy-stores.ts';
import { listFiles, writeManifest } from '../backup/manifest.ts';
import { addBackup, openRepository, withRepository } from '../backup/repository.ts';
import { checkStores } from '../backup/verify.ts';
import { EMBEDDED, requireEmbedded } from '../embedded.ts';
import { CommandError, UsageError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Copies the embedded stores while the service runs, and verifies the copy before it counts as a backup. */
export async function backup(args: string[]): Promise<void> {
  const { to, repository } = readOptions(args, { required: [], optional: ['to', 'repository'] });
  const settings = settingsOrFail();
  requireEmbedded(settings, 'backup', 'pg_dump');
  if ((to === undefined) === (repository === undefined)) throw new UsageError('Give either --to or --repository.');
  if (existsSync(settings.dataDir)) requireDataDir(settings.dataDir);
  requireConfiguration(settings.dataDir);
  if (!existsSync(join(settings.dataDir, EMBEDDED.config))) throw new CommandError(`There is nothing to back up in ${settings.dataDir}.`);
  await requireWhole(settings);
  if (to !== undefined) print(await backUpTo(settings, to));
  if (repository !== undefined) print(await backUpInto(settings, repository));
}

/** A backup of what is left would pass for a whole one. */
async function requireWhole({ dataDir, natsUrl }: Settings): Promise<void> {
  const store = openUnmigrated({ dataDir });
  try {
    await requireStores(dataDir, store.db, { log: natsUrl === undefined });
  } finally {
    await store.close();
  }
}

/** A whole copy in a folder of its own. The manifest comes last. */
async function backUpTo(settings: Settings, to: string): Promise<{ to: string; copied: string[] }> {
  makeFolder(to);
  if (readdirSync(to).length > 0) throw new CommandError(`${to} is not empty.`);
  chmodSync(to, 0o700);
  try {
    const copied = await copyStores(settings, to, 'compact');
    await requireSound(settings, to);
    for (const path of listFiles(to)) chmodSync(join(to, path), 0o600);
    await writeManifest(to, new Date());
    return { to, copied };
  } catch (error) {
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
    throw error;
  }
}

/** One more backup in a repository, which stores only what changed since the last one. */
async function backUpInto(settings: Settings, repository: string): Promise<object> {
  openRepository(repository);
  return await withRepository(repository, () => addCopy(settings, repository));
}

async function addCopy(settings: Settings, repository: string): Promise<object> {
  // Of backups that were killed.
  for (const name of readdirSync(repository))
    if (/^incoming(-\d+)?$/.test(name)) rmSync(join(repository, name), { recursive: true, force: true });
  const incoming = join(repository, `incoming-${process.pid}`);
  mkdirSync(incoming, { mode: 0o700 });
  try {
    const copied = await copyStores(settings, incoming, 'as_is');
    await requireSound(settings, incoming);
    return { repository, copied, ...addBackup(repository, incoming, new Date()) };
  } finally {
    rmSync(incoming, { recursive: true, force: true });
  }
}

async function requireSound({ dataDir }: Settings, copy: string): Promise<void> {
  const faults = await checkStores(copy);
  if (faults.length > 0) throw new CommandError(`The stores in ${dataDir} are damaged; no backup was made.\n${faults.join('\n')}`);
}
