/** The same suite on SQLite and on a real PostgreSQL, with a fresh database for each store. */
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { chance } from '../../src/runtime/ids.ts';
import { findPostgres } from './find.ts';
import { startPostgres, type TestServer } from './index.ts';

export type FreshDatabase = () => Promise<string | undefined>;

export function onBothEngines(name: string, suite: (fresh: FreshDatabase, engine: 'sqlite' | 'postgres') => void): void {
  describe(`${name} on SQLite`, () => suite(async () => undefined, 'sqlite'));
  // Said plainly where it is left out; with CI=true the suite runs and fails instead.
  const installed = findPostgres() !== undefined || process.env.CI === 'true';
  describe.skipIf(!installed)(`${name} on PostgreSQL${installed ? '' : ' (not installed: left out)'}`, () => {
    const shared = process.env.SHARED_POSTGRES_URL;
    let own: TestServer | undefined;
    beforeAll(async () => {
      if (shared === undefined) own = await startPostgres();
    });
    afterAll(async () => {
      await own?.stop();
    });
    suite(() => freshDatabase(shared ?? own?.url ?? ''), 'postgres');
  });
}

async function freshDatabase(serverUrl: string): Promise<string> {
  const name = `t_${chance(12)}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
