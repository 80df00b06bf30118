/** Prepares the database at the start, and waits for PostgreSQL while it is unavailable. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from './config.ts';
import { type EnsuredOwner, ensureOwner } from './roles/admin/create-organisation.ts';
import type { Clock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';
import { openVault, type Vault } from './secrets/vault.ts';
import { sealStoredChannels } from './stores/config/alert-channels.ts';
import { isConnectionLost } from './stores/config/availability.ts';
import { listKeyedOrganisations } from './stores/config/organisations.ts';
import { sealStoredParameters } from './stores/config/pipeline-parameters.ts';
import type { Db } from './stores/config/schema.ts';

const RETRY_MS = 1_000;
const REMIND_MS = 60_000;

export interface PreparedDatabase {
  vault: Vault;
  owner: EnsuredOwner;
}
interface DatabaseDeps {
  stores: { config: { db: Db }; migrate(): Promise<void> };
  settings: Pick<Settings, 'databaseUrl' | 'secretKey' | 'dataDir' | 'ownerEmail' | 'ownerPassword'>;
  clock: Clock;
  logger: Logger;
}

/** Migrates, checks SECRET_KEY and creates the first owner. Undefined while PostgreSQL is unavailable; other errors are thrown. */
export async function prepareDatabase({ stores, settings, clock }: DatabaseDeps): Promise<PreparedDatabase | undefined> {
  const { db } = stores.config;
  try {
    await stores.migrate();
    const vault = openVault(await listKeyedOrganisations(db), settings);
    await sealStoredParameters(db, vault.cipher);
    await sealStoredChannels(db, vault.cipher);
    const owner = await ensureOwner({ db, cipher: vault.cipher, clock }, { email: settings.ownerEmail, password: settings.ownerPassword });
    return { vault, owner };
  } catch (error) {
    if (settings.databaseUrl !== undefined && isConnectionLost(error)) return undefined;
    throw error;
  }
}

/**
 * Retries once a second and logs once a minute. Undefined if the signal ended the wait. `load`: the first reading of the prepared database. If
 * it loses the connection, the wait goes on.
 */
export async function waitForDatabase(
  deps: DatabaseDeps,
  { signal, load }: { signal?: AbortSignal; load?: () => Promise<void> } = {},
): Promise<PreparedDatabase | undefined> {
  const { clock, logger } = deps;
  let reminded = Number.NEGATIVE_INFINITY;
  while (signal?.aborted !== true) {
    if (clock.monotonic() - reminded >= REMIND_MS) {
      reminded = clock.monotonic();
      logger.warn('DATABASE_URL: PostgreSQL does not accept the connection, waiting');
    }
    await sleep(RETRY_MS);
    try {
      const prepared = await prepareDatabase(deps);
      if (prepared === undefined) continue;
      await load?.();
      logger.info('PostgreSQL available');
      return prepared;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
    }
  }
  return undefined;
}
