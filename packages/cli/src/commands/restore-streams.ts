import { isStreamBackup, readManifest } from '../backup/manifest.ts';
import { restoreStreams } from '../backup/streams.ts';
import { checkFiles } from '../backup/verify.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Verifies the backup before it creates the first stream. */
export async function restoreStreamsCommand(args: string[]): Promise<void> {
  const { from } = readOptions(args, { required: ['from'] });
  const settings = settingsOrFail();
  if (!isStreamBackup(from)) throw new CommandError(`${from} holds no backup of streams.`);
  const faults = await checkFiles(from, readManifest(from));
  if (faults.length > 0) throw new CommandError(`The backup in ${from} is damaged; nothing was changed.\n${faults.join('\n')}`);
  print({ restored: from, ...(await restoreStreams(settings, from)) });
}
