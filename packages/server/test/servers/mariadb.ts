import { join } from 'node:path';
import { answers, findProgram, runToEnd, startServer, type TestServer, userOtherThanRoot } from './process.ts';

const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin'];
export const findMariadb = () => findProgram('mariadbd', FOLDERS);

/** A MariaDB on a free port, without durability; `root` has no password. */
export function startMariadb(): Promise<TestServer> {
  const server = findMariadb();
  const install = findProgram('mariadb-install-db', FOLDERS);
  if (!server || !install) throw new Error('MariaDB is not installed (Debian: apt-get install mariadb-server)');
  const user = userOtherThanRoot();
  const data = (directory: string) => [`--datadir=${join(directory, 'data')}`, `--tmpdir=${directory}`];
  const settings = [
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-buffer-pool-size=64M',
  ];
  return startServer({
    name: 'mariadb',
    user,
    prepare: (directory) =>
      runToEnd([install, '--no-defaults', ...data(directory), '--auth-root-authentication-method=normal', '--skip-test-db'], user),
    command: (directory, port) => [
      server,
      '--no-defaults',
      ...data(directory),
      `--port=${port}`,
      `--socket=${join(directory, 's')}`,
      ...settings,
    ],
    url: (port) => `mysql://root@127.0.0.1:${port}/`,
    // The first packet of the server has the protocol version 10 as its fifth byte.
    ready: (port) => answers(port, undefined, (data) => data[4] === 10),
    endSignal: 'SIGTERM',
  });
}
