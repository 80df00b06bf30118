import { readSettings, type Settings } from '@firsthand/server/config.ts';
import { systemClock } from '@firsthand/server/runtime/clock.ts';
import { openVault, type Vault } from '@firsthand/server/secrets/vault.ts';
import { type ConfigStore, openConfigStore } from '@firsthand/server/stores/config/open.ts';
import { listKeyedOrganisations } from '@firsthand/server/stores/config/organisations.ts';
import { CommandError } from './failure.ts';

/** Reads the same environment variables as the service. */
export function settingsOrFail(): Settings {
  const result = readSettings(process.env);
  if (!result.ok) throw new CommandError(result.faults.join('\n'));
  return result.settings;
}

export interface Installation extends Vault, Pick<ConfigStore, 'db'> {
  settings: Settings;
  clock: typeof systemClock;
}

/** Opens the configuration store, also while the service is running, and always closes it. */
export async function withInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T> {
  const settings = settingsOrFail();
  const store = await openConfigStore({ databaseUrl: settings.databaseUrl, dataDir: settings.dataDir, clock: systemClock });
  try {
    const vault = openVault(await listKeyedOrganisations(store.db), settings);
    return await work({ ...vault, db: store.db, settings, clock: systemClock });
  } finally {
    await store.close();
  }
}

export function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
