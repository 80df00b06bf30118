import pg from 'pg';
import { randomText } from '../../src/runtime/ids.ts';
import { startPostgres } from './postgres.ts';

export interface TestDatabase {
  url: string;
  stop(): Promise<void>;
}

/** An empty database in the PostgreSQL that the whole run shares, or in one of its own where only named files run. */
export async function startDatabase(): Promise<TestDatabase> {
  const shared = process.env.SHARED_POSTGRES_URL;
  if (shared !== undefined) return { url: await freshDatabase(shared), stop: async () => {} };
  const server = await startPostgres();
  return { url: server.url, stop: () => server.stop() };
}

export async function freshDatabase(serverUrl: string): Promise<string> {
  const name = `t_${randomText(12)}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
