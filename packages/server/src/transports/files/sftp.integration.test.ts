// @module-tag openssh-server
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SshServer, startSshd } from '../../../test/servers/sshd.ts';
import { driverOptions } from '../testing/conformance.ts';
import { testKills } from '../testing/kills.ts';
import { openSftp } from './sftp.ts';
import { describeFileTarget, fileRecord, idsIn } from './testing/conformance.ts';

/** Stands between client and server, and breaks a connection in the middle of a file. */
class Wire {
  cutAfter: number | undefined;
  port = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  constructor(to: () => number) {
    this.#server = createServer((client) => {
      const server = connect(to(), '127.0.0.1');
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.on('data', (data) => {
        if (this.cutAfter !== undefined && (this.cutAfter -= data.length) <= 0) {
          this.cutAfter = undefined;
          client.destroy();
        } else server.write(data);
      });
      server.pipe(client);
    });
  }
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
  }
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
  close(): void {
    this.drop();
    this.#server.close();
  }
}

describe('files over SFTP', () => {
  let ssh: SshServer;
  const wire = new Wire(() => ssh.port);
  beforeAll(async () => {
    ssh = await startSshd();
    await wire.listen();
  });
  afterAll(async () => {
    wire.close();
    await ssh.stop();
  });
  const connection = () => ({
    host: '127.0.0.1',
    port: String(wire.port),
    username: ssh.username,
    private_key: ssh.privateKey,
    host_key: ssh.hostKey,
    directory: ssh.directory,
  });
  function stored(): Map<string, Buffer> {
    const names = readdirSync(ssh.directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = names.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.endsWith('.part'));
    return new Map(paths.map((path) => [path.slice(ssh.directory.length + 1), readFileSync(path)]));
  }

  describeFileTarget('OpenSSH', () => ({
    open: openSftp,
    connection,
    wrongCredentials: () => ({ username: 'nobody-here' }),
    nobody: { port: '1' },
    objects: async () => stored(),
    breaks: ['cut'],
    breakNext: () => {
      wire.cutAfter = 200_000;
    },
    // A session has its own process and would outlive the server.
    stop: async () => {
      await ssh.kill();
      wire.drop();
    },
    resume: () => ssh.restart(),
  }));

  testKills('SFTP', async () => {
    const eventIds = async () => [...stored()].filter(([path]) => path.startsWith('killed/')).flatMap(([, file]) => idsIn(file));
    return {
      vendor: 'sftp',
      config: { ...connection(), port: wire.port, format: 'ndjson', compression: 'none', prefix: 'killed/' },
      eventIds,
      exactlyOnce: true,
    };
  });

  const send = async (over: Record<string, string>, id: number) => {
    const transport = openSftp({ ...connection(), ...over }, driverOptions());
    const verdict = await transport.send([fileRecord('own/', id)], { timeout_ms: 20_000 });
    await transport.close();
    return verdict;
  };

  test('a server with another host key is not trusted', async () => {
    const verdict = await send({ host_key: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }, 1);
    expect(verdict).toEqual({ kind: 'unavailable', reason: `sftp: the server has another host key: ${ssh.hostKey}` });
  });

  test('the rest of an interrupted upload is overwritten, and no part of it stays', async () => {
    expect(await send({}, 2)).toEqual({ kind: 'delivered' });
    const [name = ''] = readdirSync(join(ssh.directory, 'own'));
    const other = join(ssh.directory, 'other', 'own');
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, `.${name}.part`), 'x'.repeat(1_000_000));
    expect(await send({ directory: join(ssh.directory, 'other') }, 2)).toEqual({ kind: 'delivered' });
    expect(readdirSync(other)).toEqual([name]);
    expect(readFileSync(join(other, name))).toEqual(readFileSync(join(ssh.directory, 'own', name)));
  });

  test('a folder that cannot be written is worth a retry', async () => {
    writeFileSync(join(ssh.directory, 'file'), '');
    expect(await send({ directory: join(ssh.directory, 'file') }, 3)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('sftp: '),
    });
  });
});
