import { isRepository, pruneBackups, withRepository } from '../backup/repository.ts';
import { CommandError } from '../failure.ts';
import { print } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Removes chunks that no finished backup names. */
export async function backupPrune(args: string[]): Promise<void> {
  const { repository, keep } = readOptions(args, { required: ['repository', 'keep'] });
  if (!/^[1-9]\d{0,5}$/.test(keep)) throw new CommandError('--keep: must be a number of backups from 1 to 999999.');
  if (!isRepository(repository)) throw new CommandError(`${repository} is not a backup repository.`);
  print({ repository, ...(await withRepository(repository, async () => pruneBackups(repository, Number(keep)))) });
}
