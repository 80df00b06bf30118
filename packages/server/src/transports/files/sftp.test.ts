import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { driverOptions } from '../testing/conformance.ts';
import { connectGuarded } from './guarded-connect.ts';
import { openSftp } from './sftp.ts';
import { fileRecord } from './testing/conformance.ts';

async function server() {
  const connected = Promise.withResolvers<Socket>();
  const listening = createServer((socket) => connected.resolve(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  onTestFinished(() => void listening.close());
  await once(listening, 'listening');
  return { port: (listening.address() as AddressInfo).port, connected: connected.promise };
}

test('a private key that does not parse leaves no open connection, which the server could reset later', async () => {
  const { port, connected } = await server();
  const connection = {
    host: '127.0.0.1',
    port: String(port),
    username: 'u',
    private_key: 'not a key',
    host_key: 'SHA256:x',
    directory: '.',
  };
  const transport = openSftp(connection, driverOptions());
  onTestFinished(() => transport.close());
  const verdict = await transport.send([fileRecord('own/', 1)], { timeout_ms: 5_000 });
  expect(verdict).toEqual({ kind: 'unavailable', reason: expect.stringContaining('Cannot parse privateKey') });
  const accepted = await connected;
  accepted.resume();
  if (!accepted.closed) await once(accepted, 'close');
});

test('a reset of a connection that no client has taken over yet is no uncaught exception', async () => {
  const { port, connected } = await server();
  const socket = await connectGuarded('127.0.0.1', port, driverOptions());
  // Not with `once` of node:events: it would be a listener for errors itself.
  const closed = new Promise((resolve) => socket.resume().once('close', resolve));
  (await connected).resetAndDestroy();
  await closed;
  expect(socket.errored).toMatchObject({ code: 'ECONNRESET' });
});
