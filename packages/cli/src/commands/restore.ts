import { chmodSync, closeSync, cpSync, existsSync, fchmodSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { finishInterruptedRestore, removeAbandonedCopies, swapIn } from '@firsthand/server/stores/interrupted-restore.ts';
import { listFiles, MANIFEST_FILE, readManifest } from '../backup/manifest.ts';
import { extractBackup, isRepository, readBackup } from '../backup/repository.ts';
import { checkStores, verifyBackup } from '../backup/verify.ts';
import { EMBEDDED, requireEmbedded, whileStopped } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/**
 * Replaces the stores in DATA_DIR with a backup. The copy is verified before anything is moved, and the old stores are kept beside the
 * new ones.
 */
export async function restore(args: string[]): Promise<void> {
  const { from, name } = readOptions(args, { required: ['from'], optional: ['name'] });
  const settings = settingsOrFail();
  requireEmbedded(settings, 'restore', 'pg_restore');
  const { dataDir } = settings;
  const source = isRepository(from) ? fromRepository(from, name) : fromFolder(from);
  if (name !== undefined && !isRepository(from)) throw new CommandError(`--name: ${from} is one backup, not a repository: leave it out.`);
  const replaced = await whileStopped(dataDir, () => replaceStores(dataDir, from, source));
  print({ restored: from, replaced });
}

/** Returns the folder with the earlier stores. */
async function replaceStores(dataDir: string, from: string, source: Source): Promise<string> {
  finishInterruptedRestore(dataDir);
  removeAbandonedCopies(dataDir);
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  const plan = { incoming: `restore-${stamp}`, replaced: `before-restore-${stamp}`, names: storeNames() };
  const incoming = join(dataDir, plan.incoming);
  try {
    source.copyTo(incoming);
    // Verifies the copy, not the original: the copy may be incomplete.
    const faults = await source.faultsOf(incoming);
    if (faults.length > 0) throw new CommandError(`The backup in ${from} is damaged; nothing was changed.\n${faults.join('\n')}`);
    settle(incoming);
  } catch (error) {
    rmSync(incoming, { recursive: true, force: true });
    throw error;
  }
  rmSync(join(incoming, MANIFEST_FILE), { force: true });
  swapIn(dataDir, plan);
  return join(dataDir, plan.replaced);
}

interface Source {
  copyTo(incoming: string): void;
  faultsOf(incoming: string): Promise<string[]>;
}
function fromFolder(from: string): Source {
  if (!existsSync(join(from, EMBEDDED.config)) && !existsSync(join(from, MANIFEST_FILE)))
    throw new CommandError(`${from} holds no backup: ${EMBEDDED.config} is missing.`);
  const manifest = readManifest(from);
  return { copyTo: (incoming) => cpSync(from, incoming, { recursive: true }), faultsOf: (incoming) => verifyBackup(incoming, manifest) };
}
function fromRepository(from: string, name: string | undefined): Source {
  const { backup } = readBackup(from, name);
  return { copyTo: (incoming) => extractBackup(from, backup, incoming), faultsOf: checkStores };
}

/** The stores and the additional files SQLite keeps beside them. */
function storeNames(): string[] {
  return Object.values(EMBEDDED).flatMap((name) => [name, `${name}-wal`, `${name}-shm`]);
}

/** Syncs the files to disk before the swap and makes them private: backups of older versions have mode 0644. */
function settle(folder: string): void {
  chmodSync(folder, 0o700);
  if (existsSync(join(folder, EMBEDDED.log))) chmodSync(join(folder, EMBEDDED.log), 0o700);
  for (const path of listFiles(folder)) {
    const file = openSync(join(folder, path), 'r+');
    fchmodSync(file, 0o600);
    fsyncSync(file);
    closeSync(file);
  }
}
