import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { findSshd } from './find.ts';
import { startServer, type TestServer } from './process.ts';

export interface SshServer extends TestServer {
  username: string;
  /** OpenSSH format. */
  privateKey: string;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  hostKey: string;
  /** Where the test may write. */
  directory: string;
}

/** OpenSSH with SFTP, for the current user and one key. Throws where the program is missing. */
export async function startSshd(): Promise<SshServer> {
  const program = findSshd();
  if (!program) throw new Error('sshd is not on the PATH');
  const host = ssh2.utils.generateKeyPairSync('ed25519');
  const client = ssh2.utils.generateKeyPairSync('ed25519');
  let directory = '';
  const server = await startServer({
    name: 'sshd',
    command: (data, port) => [program, '-D', '-e', '-f', join(data, 'sshd_config'), '-p', String(port)],
    async prepare(data) {
      // The daemon insists on this folder when it runs as root.
      if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
      directory = join(data, 'files');
      mkdirSync(directory);
      writeFileSync(join(data, 'host_key'), host.private, { mode: 0o600 });
      writeFileSync(join(data, 'authorized_keys'), `${client.public}\n`, { mode: 0o600 });
      chmodSync(data, 0o700);
      const config = [
        'ListenAddress 127.0.0.1',
        `HostKey ${join(data, 'host_key')}`,
        `AuthorizedKeysFile ${join(data, 'authorized_keys')}`,
        'PidFile none',
        'StrictModes no',
        'UsePAM no',
        'PermitRootLogin prohibit-password',
        'PasswordAuthentication no',
        'MaxStartups 100',
        'Subsystem sftp internal-sftp',
      ];
      writeFileSync(join(data, 'sshd_config'), `${config.join('\n')}\n`);
    },
    url: (port) => `sftp://127.0.0.1:${port}`,
    ready: (port) =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.once('data', (greeting) => {
          socket.destroy();
          resolve(greeting.toString().startsWith('SSH-2.0'));
        });
        socket.once('error', () => resolve(false));
        socket.once('close', () => resolve(false));
      }),
    endSignal: 'SIGTERM',
  });
  const key = ssh2.utils.parseKey(host.public);
  if (key instanceof Error) throw key;
  const hostKey = `SHA256:${hash('sha256', key.getPublicSSH(), 'base64').replace(/=+$/, '')}`;
  return Object.assign(server, { username: userInfo().username, privateKey: client.private, hostKey, directory });
}
