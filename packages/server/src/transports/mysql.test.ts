import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { testAuthority } from '../outbound/testing/certificates.ts';
import { openMysql } from './mysql.ts';
import { driverOptions, record } from './testing/conformance.ts';

const authority = testAuthority('Database CA');
/** For localhost. */
const own = authority.issue('database');
/** Of protocol 10, with TLS and native passwords. */
const GREETING = Buffer.concat([
  Buffer.from('\x0a8.4.0\0', 'latin1'),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from('12345678\0', 'latin1'),
  Buffer.from([0x00, 0x8a, 45, 2, 0, 0x08, 0, 21]),
  Buffer.alloc(10),
  Buffer.from('123456789012\0mysql_native_password\0', 'latin1'),
]);
const SSL_REQUEST_BYTES = 36;

/** Greets, changes to TLS and hangs up at the login. */
let server: Server;
let logins = 0;
const sockets = new Set<Socket>();
beforeAll(async () => {
  const secureContext = createSecureContext({ cert: own.certificate, key: own.private_key });
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(Buffer.concat([Buffer.from([GREETING.length, 0, 0, 0]), GREETING]));
    socket.on('readable', function change() {
      if (socket.read(SSL_REQUEST_BYTES) === null) return;
      socket.off('readable', change);
      const secure = new TLSSocket(socket, { isServer: true, secureContext });
      secure.on('error', () => undefined);
      secure.once('data', () => {
        logins++;
        secure.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});
beforeEach(() => {
  logins = 0;
});

/** Every name is this machine. */
const lookup: LookupFunction = (_host, options, callback) =>
  options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
async function sendTo(host: string, ssl: string, ca?: string) {
  const port = String((server.address() as AddressInfo).port);
  const connection = { host, port, username: 'writer', password: 'secret', database: 'test', ssl, ...(ca ? { ca } : {}) };
  const transport = openMysql(connection, { ...driverOptions(), lookup });
  onTestFinished(() => transport.close());
  return transport.send([record('events', 1)], { timeout_ms: 20_000 });
}

test.each([
  ['a certificate of another host is not trusted', 'db.example.com', 'verify', authority.certificate, 0],
  ['a certificate of this host is', 'localhost', 'verify', authority.certificate, 1],
  ['an address is vouched for by the given authority', '127.0.0.1', 'verify', authority.certificate, 1],
  ['an unknown authority is not trusted', 'localhost', 'verify', undefined, 0],
  ['require only encrypts', 'db.example.com', 'require', undefined, 1],
])('%s', async (_name, host, ssl, ca, expected) => {
  expect(await sendTo(host, ssl, ca)).toMatchObject({ kind: 'unavailable' });
  expect(logins > 0).toBe(expected > 0);
});
