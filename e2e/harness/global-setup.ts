/** One PostgreSQL for the whole run where the stories run on servers; every service in it gets a database and a NATS of its own. */
import { startPostgres } from '../../packages/server/test/servers/index.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.STORES !== 'servers' || process.env.TEST_DATABASE_URL) return undefined;
  const postgres = await startPostgres();
  process.env.TEST_DATABASE_URL = postgres.url;
  return () => postgres.stop();
}
