/** Starts one PostgreSQL for a run with STORES=servers. Every service gets its own database in it and its own NATS. */
import { startPostgres } from '../../packages/server/test/servers/index.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.STORES !== 'servers' || process.env.TEST_DATABASE_URL) return undefined;
  const postgres = await startPostgres();
  process.env.TEST_DATABASE_URL = postgres.url;
  return () => postgres.stop();
}
