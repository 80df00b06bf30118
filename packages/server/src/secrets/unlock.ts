import type { Settings } from '../config.ts';
import { listKeyedOrganisations } from '../stores/config/organisations.ts';
import type { Db } from '../stores/config/schema.ts';
import { type Cipher, createCipher } from './cipher.ts';
import { secretKeyCandidates } from './secret-key.ts';

export interface Unlocked {
  cipher: Cipher;
  secretKey: string;
}

/** The key that opens this installation's data keys; a store without an organisation takes the first there is. */
export async function unlock(db: Db, settings: Pick<Settings, 'secretKey' | 'dataDir'>): Promise<Unlocked> {
  const organisations = await listKeyedOrganisations(db);
  for (const secretKey of secretKeyCandidates(settings)) {
    const cipher = createCipher(secretKey);
    if (organisations.every((organisation) => cipher.opens(organisation))) return { cipher, secretKey };
  }
  throw new Error('SECRET_KEY is not the key this installation was set up with: its secrets cannot be opened.');
}
