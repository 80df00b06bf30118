import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SocketGuard } from './guarded-sockets.ts';

const received: Buffer[] = [];
let connections = 0;
const server = createServer((socket) => {
  connections++;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => received.push(chunk));
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const OPEN: Record<string, () => Socket> = {
  'an address': () => connect(port, '127.0.0.1'),
  'a name': () => connect(port, 'localhost'),
  'an address with TLS': () => connectTls({ port, host: '127.0.0.1' }),
  'a name with TLS': () => connectTls({ port, host: 'localhost' }),
};
/** Writes at once, as a client does. */
const failure = (open: () => Socket) =>
  new Promise<Error>((resolve, reject) => {
    const socket = open();
    socket.on('error', resolve);
    socket.on('connect', () => setTimeout(() => reject(new Error('connected')), 50));
    socket.write('hello');
  });

describe.each(Object.entries(OPEN))('%s', (_name, open) => {
  test('on the private network is refused before a connection is opened, and nothing is sent', async () => {
    connections = 0;
    const guard = new SocketGuard({ allowPrivateDestinations: false });
    expect(await guard.run(() => failure(open))).toMatchObject({
      name: 'DestinationRefused',
      message: '127.0.0.1 is not a public address',
    });
    expect(guard.refused?.message).toContain('is not a public address');
    expect(received).toEqual([]);
    // The server accepts in order: an earlier connection would have been counted before this one.
    const last = connect(port, '127.0.0.1');
    await new Promise((resolve) => last.once('connect', resolve));
    await new Promise<void>((resolve) => last.end(() => resolve()));
    await expect.poll(() => connections).toBeGreaterThan(0);
    expect(connections).toBe(1);
  });
});

test('a socket that a timer opens later is covered', async () => {
  const guard = new SocketGuard({ allowPrivateDestinations: false });
  const late = guard.run(() => new Promise((resolve) => setTimeout(() => resolve(failure(OPEN['an address']!)), 5)));
  expect(await late).toMatchObject({ name: 'DestinationRefused' });
});

test('sockets outside of the guard, and where private destinations are allowed, connect', async () => {
  const guard = new SocketGuard({ allowPrivateDestinations: true });
  for (const run of [<T>(work: () => T) => work(), <T>(work: () => T) => guard.run(work)]) {
    const socket = run(() => connect(port, '127.0.0.1'));
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.destroy();
  }
  expect(guard.refused).toBeUndefined();
});
