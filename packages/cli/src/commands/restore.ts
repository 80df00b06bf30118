import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EMBEDDED, requireEmbedded, requireStopped } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Puts a backup where DATA_DIR's stores are. What was there is kept beside them, and the copy is whole before anything is moved. */
export async function restore(args: string[]): Promise<void> {
  const { from } = readOptions(args, { required: ['from'] });
  const settings = settingsOrFail();
  requireEmbedded(settings, 'pg_restore');
  const { dataDir } = settings;
  if (!existsSync(join(from, EMBEDDED.config))) throw new CommandError(`${from} holds no backup: ${EMBEDDED.config} is missing.`);
  requireStopped(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  const incoming = join(dataDir, `restore-${stamp}`);
  const replaced = join(dataDir, `before-restore-${stamp}`);
  cpSync(from, incoming, { recursive: true });
  mkdirSync(replaced, { mode: 0o700 });
  const names = Object.values(EMBEDDED).flatMap((name) => [name, `${name}-wal`, `${name}-shm`]);
  for (const name of names) if (existsSync(join(dataDir, name))) renameSync(join(dataDir, name), join(replaced, name));
  for (const name of readdirSync(incoming)) renameSync(join(incoming, name), join(dataDir, name));
  rmSync(incoming, { recursive: true });
  print({ restored: from, replaced });
}
