import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@firsthand/server/stores/make-folder.ts';
import { writeManifest } from '../backup/manifest.ts';
import { copyStreams } from '../backup/streams.ts';
import { CommandError } from '../failure.ts';
import { print, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Copies the streams in NATS while the service runs. The manifest comes last. */
export async function backupStreams(args: string[]): Promise<void> {
  const { to } = readOptions(args, { required: ['to'] });
  const settings = settingsOrFail();
  makeFolder(to);
  if (readdirSync(to).length > 0) throw new CommandError(`${to} is not empty.`);
  try {
    const copied = await copyStreams(settings, to);
    const { files } = await writeManifest(to, new Date());
    print({ to, ...copied, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) });
  } catch (error) {
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
    throw error;
  }
}
