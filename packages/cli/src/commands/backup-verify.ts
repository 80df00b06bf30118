import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_FILE, readManifest, writeManifest } from '../backup/manifest.ts';
import { checkChunks, isRepository, listBackups, readBackup, sizeOf } from '../backup/repository.ts';
import { checkStores, verifyBackup } from '../backup/verify.ts';
import { EMBEDDED } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { print } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Needs no installation: a backup can be verified on any machine. */
export async function backupVerify(args: string[]): Promise<void> {
  const options = readOptions(args, { required: ['from'], flags: ['write-manifest'] });
  const { from } = options;
  if (isRepository(from)) return verifyRepository(from);
  if (!existsSync(join(from, EMBEDDED.config)) && !existsSync(join(from, MANIFEST_FILE)))
    throw new CommandError(`${from} holds no backup: ${EMBEDDED.config} is missing.`);
  if (options['write-manifest']) await adopt(from);
  const manifest = readManifest(from);
  const faults = await verifyBackup(from, manifest);
  if (faults.length > 0) throw new CommandError(`The backup in ${from} is damaged.\n${faults.join('\n')}`);
  const { created_at, firsthand_version, files } = manifest;
  print({ from, valid: true, created_at, firsthand_version, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) });
}

/** The stores were checked before they were added, so it suffices that every chunk is the one that was written. */
function verifyRepository(from: string): void {
  const { name, backup } = readBackup(from, undefined);
  const names = listBackups(from);
  const faults = checkChunks(from, names);
  if (faults.length > 0) throw new CommandError(`The repository in ${from} is damaged.\n${faults.join('\n')}`);
  print({ from, valid: true, backups: names, newest: name, files: backup.files.length, bytes: sizeOf(backup) });
}

/** Writes a manifest for backups of versions that had none. */
async function adopt(from: string): Promise<void> {
  if (existsSync(join(from, MANIFEST_FILE))) throw new CommandError(`${from} has a ${MANIFEST_FILE} already; it is not replaced.`);
  const faults = await checkStores(from);
  if (faults.length > 0) throw new CommandError(`The backup in ${from} is damaged; no manifest was written.\n${faults.join('\n')}`);
  await writeManifest(from, new Date());
}
