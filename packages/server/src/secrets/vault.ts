import { listKeyedOrganisations } from '../stores/config/organisations.ts';
import type { Db } from '../stores/config/schema.ts';
import { type Cipher, createCipher } from './cipher.ts';
import { secretKeyCandidates } from './secret-key.ts';

export interface Vault {
  secretKey: string;
  cipher: Cipher;
}

/** The key that opens what is stored. A wrong SECRET_KEY stops the start: going on would seal new secrets under a second key. */
export async function openVault(db: Db, settings: { secretKey: string | undefined; dataDir: string }): Promise<Vault> {
  const candidates = secretKeyCandidates(settings);
  const organisations = await listKeyedOrganisations(db);
  for (const secretKey of candidates) {
    const cipher = createCipher(secretKey);
    if (organisations.every((organisation) => cipher.opens(organisation))) return { secretKey, cipher };
  }
  throw new Error('SECRET_KEY: is not the key that this installation was set up with');
}
