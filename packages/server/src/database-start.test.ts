import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitForDatabase } from './database-start.ts';
import { systemClock } from './runtime/clock.ts';
import { type ConfigStore, openConfigStore } from './stores/config/open.ts';

let dataDir: string;
let config: ConfigStore;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'firsthand-database-start-'));
  config = await openConfigStore({ dataDir, databaseUrl: undefined, clock: systemClock });
});
afterEach(async () => {
  await config.close();
  rmSync(dataDir, { recursive: true, force: true });
});
const deps = () => ({
  stores: { config, migrate: async () => undefined },
  settings: { databaseUrl: undefined, secretKey: undefined, dataDir, ownerEmail: 'owner@example.com', ownerPassword: undefined },
  clock: systemClock,
  logger: pino({ level: 'silent' }),
});

test('a database that goes away again during the first load is waited for (the process ended)', async () => {
  let loads = 0;
  const prepared = await waitForDatabase(deps(), {
    load: async () => {
      if (++loads === 1) throw new Error('Connection terminated unexpectedly');
    },
  });
  expect([prepared !== undefined, loads]).toEqual([true, 2]);
});

test('any other failure of the first load ends the start', async () => {
  const load = async () => {
    throw new Error('a row that cannot be read');
  };
  await expect(waitForDatabase(deps(), { load })).rejects.toThrow('a row that cannot be read');
});
