import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, type Settings } from '@firsthand/server/config.ts';
import { systemClock } from '@firsthand/server/runtime/clock.ts';
import { openVault, type Vault } from '@firsthand/server/secrets/vault.ts';
import { isConnectionLost } from '@firsthand/server/stores/config/availability.ts';
import { type ConfigStore, openConfigStore } from '@firsthand/server/stores/config/open.ts';
import { listKeyedOrganisations } from '@firsthand/server/stores/config/organisations.ts';
import { requireConfiguration, requireDataDir, SQLITE_FILE } from '@firsthand/server/stores/data-dir.ts';
import { hasInterruptedRestore } from '@firsthand/server/stores/interrupted-restore.ts';
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

/** With a wrong DATA_DIR a command would work on a new, empty installation and find nothing wrong with it. */
export function requireInstallation({ databaseUrl, dataDir }: Settings): void {
  if (databaseUrl !== undefined) return;
  if (existsSync(dataDir)) requireDataDir(dataDir);
  if (hasInterruptedRestore(dataDir)) return;
  requireConfiguration(dataDir);
  if (existsSync(join(dataDir, SQLITE_FILE))) return;
  throw new CommandError(`There is no installation in ${dataDir}: set DATA_DIR, or DATABASE_URL, as for the service.`);
}

/** Opens the configuration store, also while the service is running, and always closes it. `orNew` makes an installation where there is none. */
export async function withInstallation<T>(work: (installation: Installation) => Promise<T>, { orNew = false } = {}): Promise<T> {
  const settings = settingsOrFail();
  if (!orNew) requireInstallation(settings);
  return await namingDatabase(settings, async () => {
    const store = await openConfigStore({ databaseUrl: settings.databaseUrl, dataDir: settings.dataDir, clock: systemClock });
    try {
      const vault = openVault(await listKeyedOrganisations(store.db), settings);
      return await work({ ...vault, db: store.db, settings, clock: systemClock });
    } finally {
      await store.close();
    }
  });
}

/** PostgreSQL refuses the user, or has no such database. */
const REFUSED = /^(28|3D)/;

/** Says which server cannot be used. For a host with several addresses, the driver's own error has no message. */
export async function namingDatabase<T>({ databaseUrl }: Pick<Settings, 'databaseUrl'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as { code?: unknown; syscall?: unknown };
    const isUnusable = isConnectionLost(error) || syscall === 'connect' || REFUSED.test(String(code));
    if (databaseUrl === undefined || !isUnusable) throw error;
    const { host, searchParams } = new URL(databaseUrl);
    throw new CommandError(
      `DATABASE_URL: PostgreSQL at ${host || (searchParams.get('host') ?? 'localhost')} cannot be used: ${reasonOf(error)}`,
    );
  }
}
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

export function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
