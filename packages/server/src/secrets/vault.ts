import { type Cipher, createCipher, type KeyedOrganisation } from './cipher.ts';
import { hasKeyFile, secretKeyCandidates } from './secret-key.ts';

export interface Vault {
  secretKey: string;
  cipher: Cipher;
}

const REMEDY = 'restore the file secret-key from a backup, or set SECRET_KEY if the key was set there';

/**
 * Finds the key that opens the data keys of the stored organisations. A wrong SECRET_KEY stops the start: otherwise new secrets
 * would be sealed under a second key.
 */
export function openVault(stored: readonly KeyedOrganisation[], settings: { secretKey: string | undefined; dataDir: string }): Vault {
  const { secretKey: set, dataDir } = settings;
  // A new key would open nothing, and its file would hide that the old one is lost.
  if (set === undefined && stored.length > 0 && !hasKeyFile(dataDir))
    throw new Error(`SECRET_KEY: the key of this installation is not in ${dataDir}: ${REMEDY}`);
  for (const secretKey of secretKeyCandidates(settings)) {
    const cipher = createCipher(secretKey);
    if (stored.every((organisation) => cipher.opens(organisation))) return { secretKey, cipher };
  }
  if (set !== undefined) throw new Error('SECRET_KEY: is not the key that this installation was set up with');
  throw new Error(`SECRET_KEY: the key in ${dataDir} is not the one that this installation was set up with: ${REMEDY}`);
}
