import { type Cipher, createCipher, type KeyedOrganisation } from './cipher.ts';
import { secretKeyCandidates } from './secret-key.ts';

export interface Vault {
  secretKey: string;
  cipher: Cipher;
}

/**
 * Finds the key that opens the data keys of the stored organisations. A wrong SECRET_KEY stops the start: otherwise new secrets
 * would be sealed under a second key.
 */
export function openVault(stored: readonly KeyedOrganisation[], settings: { secretKey: string | undefined; dataDir: string }): Vault {
  for (const secretKey of secretKeyCandidates(settings)) {
    const cipher = createCipher(secretKey);
    if (stored.every((organisation) => cipher.opens(organisation))) return { secretKey, cipher };
  }
  throw new Error('SECRET_KEY: is not the key that this installation was set up with');
}
