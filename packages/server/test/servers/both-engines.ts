/** The same suite on SQLite and on a real PostgreSQL, with a fresh database for each store. */
import { afterAll, beforeAll, describe } from 'vitest';
import { freshDatabase } from './database.ts';
import { startPostgres, type TestServer } from './index.ts';

export type FreshDatabase = () => Promise<string | undefined>;

export function onBothEngines(name: string, suite: (fresh: FreshDatabase, engine: 'sqlite' | 'postgres') => void): void {
  describe(`${name} on SQLite`, () => suite(async () => undefined, 'sqlite'));
  describe(`${name} on PostgreSQL`, { tags: ['postgresql'] }, () => {
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
