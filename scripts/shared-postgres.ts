/**
 * One PostgreSQL for a whole run of tests: starting one for each file takes half a minute of processor time. Not for a run of named
 * files, which may need none. Each suite makes databases of its own in it.
 */
import { findPostgres } from '../packages/server/test/servers/find.ts';
import { startPostgres } from '../packages/server/test/servers/index.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const named = process.argv.slice(2).some((word, at, words) => word !== 'run' && !word.startsWith('-') && words[at - 1] !== '--project');
  if (named || findPostgres() === undefined) return undefined;
  const server = await startPostgres();
  process.env.SHARED_POSTGRES_URL = server.url;
  return () => server.stop();
}
