import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Kysely } from 'kysely';
import { afterEach, expect, test, vi } from 'vitest';
import { postgresDialect } from './postgres.ts';

/** "Authentication ok" and "ready for queries". */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

afterEach(() => vi.useRealTimers());

test('a connection that opens too late for its request stays open for the next: it was closed, and the next one opened as late', async () => {
  const sockets: Socket[] = [];
  const asked = Promise.withResolvers<void>();
  let isSlow = true;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once('data', () => {
      asked.resolve();
      if (!isSlow) socket.write(READY);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const db = new Kysely({ dialect: postgresDialect(`postgres://firsthand@127.0.0.1:${port}/test`, () => {}) });
  const request = () => db.connection().execute(async () => 'answered');

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const first = request();
  await asked.promise;
  vi.advanceTimersByTime(2_000);
  await expect(first).rejects.toThrow('timeout exceeded when trying to connect');
  expect(sockets[0]?.destroyed).toBe(false);
  isSlow = false;
  sockets[0]?.write(READY);
  expect(await request()).toBe('answered');
  // Waits for connections that were not given back.
  await db.destroy();
  server.close();
});
