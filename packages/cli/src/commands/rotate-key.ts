import { createCipher } from '@firsthand/server/secrets/cipher.ts';
import { adoptNextKey, newSecretKey, writeNextKey } from '@firsthand/server/secrets/secret-key.ts';
import { listKeyedOrganisations, replaceDataKey } from '@firsthand/server/stores/config/organisations.ts';
import { markUrgent, nextConfigVersion } from '@firsthand/server/stores/config/version.ts';
import { whileStopped } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { print, requireInstallation, settingsOrFail, withInstallation } from '../installation.ts';
import { readOptions } from '../options.ts';

/**
 * Wraps every organisation's data key with a new SECRET_KEY. Data sealed with the data keys does not change. Access tokens become
 * invalid, because the old key signed them. If the key is in the environment, the new one must be set there before the next start.
 */
export async function rotateKey(args: string[]): Promise<void> {
  const options = readOptions(args, { required: [], optional: ['new-key'] });
  const given = options['new-key'];
  if (given !== undefined && given.trim().length < 16) throw new CommandError('--new-key: must be 16 characters or more.');
  const settings = settingsOrFail();
  requireInstallation(settings);
  const { databaseUrl, dataDir } = settings;
  // A running process has the old key and could not open keys wrapped with the new one.
  if (databaseUrl === undefined) await whileStopped(dataDir, () => rotate(given));
  else await rotate(given);
}

async function rotate(given: string | undefined): Promise<void> {
  await withInstallation(async ({ db, cipher, settings }) => {
    const inFile = settings.secretKey === undefined;
    if (!inFile && given === undefined) throw new CommandError('SECRET_KEY is set in the environment: name the new one with --new-key.');
    const next = given?.trim() ?? newSecretKey();
    const nextCipher = createCipher(next);
    // The new key is on disk before anything is wrapped with it. A crash in between leaves both keys, and the next start tries both.
    if (inFile) writeNextKey(settings.dataDir, next);
    const organisations = await db.transaction().execute(async (tx) => {
      const version = await nextConfigVersion(tx);
      const keyed = await listKeyedOrganisations(tx);
      for (const organisation of keyed) await replaceDataKey(tx, organisation.id, cipher.rewrap(organisation, nextCipher));
      await markUrgent(tx, version);
      return keyed.length;
    });
    if (inFile) adoptNextKey(settings.dataDir);
    print({
      organisations,
      secret_key: inFile ? 'replaced in DATA_DIR: restart the service' : 'set SECRET_KEY to the new key and restart the service',
    });
  });
}
