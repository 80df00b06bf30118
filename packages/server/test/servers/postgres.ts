import { join } from 'node:path';
import { answers, findProgram, postgresFolders, runToEnd, startServer, type TestServer, userOtherThanRoot } from './process.ts';

/** A PostgreSQL on a free port; `durable` turns fsync on, for tests that are about it. */
export function startPostgres(options: { durable?: boolean } = {}): Promise<TestServer> {
  const folders = postgresFolders();
  const postgres = findProgram('postgres', folders);
  const initdb = findProgram('initdb', folders);
  if (!postgres || !initdb) throw new Error('PostgreSQL is not installed (Debian: apt-get install postgresql)');
  const user = userOtherThanRoot();
  const sync = options.durable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off'];
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200', '-c', 'shared_buffers=32MB'];
  return startServer({
    name: 'postgres',
    user,
    prepare: (directory) =>
      runToEnd([initdb, '--no-sync', '-A', 'trust', '-U', 'firsthand', '-E', 'UTF8', '--locale=C', '-D', join(directory, 'data')], user),
    command: (directory, port) => [postgres, '-D', join(directory, 'data'), '-p', String(port), '-k', directory, ...settings, ...sync],
    url: (port) => `postgres://firsthand@127.0.0.1:${port}/postgres`,
    ready: (port) => answers(port, STARTUP, ['R']),
    endSignal: 'SIGINT',
  });
}

// Protocol 3.0 start-up message: the server answers 'R' once it takes sessions, 'E' while it is still starting.
const PARAMETERS = Buffer.from('user\0firsthand\0database\0postgres\0\0');
const STARTUP = Buffer.concat([Buffer.from([0, 0, 0, PARAMETERS.length + 8, 0, 3, 0, 0]), PARAMETERS]);
