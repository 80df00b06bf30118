import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../runtime/clock.ts';
import { createGuardedClient, type GuardedClient, type SendResult } from './guarded-client.ts';
import type { ResolveAll } from './resolver.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A server of bare sockets: it answers a request with whatever the test says, or does not. */
async function rawServer(answer: (socket: Socket) => void): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data.includes('\r\n\r\n')) answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return { port: (server.address() as { port: number }).port, connections: () => connections };
}
function clientWith(options: { allowPrivate?: boolean; resolveAll?: ResolveAll } = {}): GuardedClient {
  const client = createGuardedClient({
    allowPrivateDestinations: options.allowPrivate ?? true,
    clock: systemClock,
    ...(options.resolveAll ? { resolveAll: options.resolveAll } : {}),
  });
  open.push(client);
  return client;
}
const post = (url: string, headers: Record<string, string> = {}) => ({ method: 'POST', url, headers, body: '{}' });
const headOf = (length: number, more = '') => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n${more}\r\n`;
/** For attempts that are to end by themselves: reached only where they hang. */
const PATIENT = 60_000;
async function timed(send: () => Promise<SendResult>): Promise<{ result: SendResult; took: number }> {
  const began = performance.now();
  const result = await send();
  return { result, took: performance.now() - began };
}

test('a plain answer: status, headers in lower case, body', async () => {
  const { port } = await rawServer((socket) =>
    socket.write('HTTP/1.1 202 Accepted\r\nX-Thing: a\r\nX-Thing: b\r\nContent-Length: 2\r\n\r\nok'),
  );
  const result = await clientWith().send(post(`http://127.0.0.1:${port}/`), PATIENT);
  expect(result).toMatchObject({ kind: 'reply', reply: { status: 202, headers: { 'x-thing': 'a, b' }, body: 'ok' } });
});

test('connections are kept and used again', async () => {
  const { port, connections } = await rawServer((socket) => socket.write(headOf(0)));
  const client = clientWith();
  for (let i = 0; i < 20; i++) expect((await client.send(post(`http://127.0.0.1:${port}/${i}`), PATIENT)).kind).toBe('reply');
  expect(connections()).toBeLessThanOrEqual(2);
});

describe('F6: an attempt ends at its timeout, whatever the vendor does', () => {
  const TIMEOUT = 400;
  const hostile: [string, (socket: Socket) => void][] = [
    ['never answers', () => undefined],
    [
      'drips its headers',
      (socket) => {
        const drip = setInterval(() => socket.write('X'), 50);
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.on('close', () => clearInterval(drip));
      },
    ],
    [
      'drips its body',
      (socket) => {
        socket.write(headOf(1_000));
        const drip = setInterval(() => socket.write('x'), 50);
        socket.on('close', () => clearInterval(drip));
      },
    ],
    ['promises more than it sends', (socket) => socket.write(`${headOf(100)}only this`)],
    [
      'sends interim answers for ever',
      (socket) => {
        const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      },
    ],
  ];
  test.each(hostile)('%s', async (_name, answer) => {
    const { port } = await rawServer(answer);
    const { result, took } = await timed(() => clientWith().send(post(`http://127.0.0.1:${port}/`), TIMEOUT));
    expect(result).toMatchObject({ kind: 'failed', error: 'timeout', permanent: false });
    expect(took).toBeGreaterThan(TIMEOUT - 10);
  });

  test('an answer without end is cut, its status counts, the connection is ended', async () => {
    let closed = false;
    const { port } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n');
      const pour = setInterval(() => socket.write('y'.repeat(65_536)), 1);
      socket.on('close', () => {
        closed = true;
        clearInterval(pour);
      });
    });
    const result = await clientWith().send(post(`http://127.0.0.1:${port}/`), PATIENT);
    expect(result).toMatchObject({
      kind: 'reply',
      reply: { status: 200, body: expect.toSatisfy((body: string) => body.length === 65_536) },
    });
    await expect.poll(() => closed).toBe(true);
  });

  const broken: [string, (socket: Socket) => void][] = [
    [
      'headers without end',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(5_000)}`),
    ],
    [
      'a reset in the middle of the body',
      (socket) => socket.write(`${headOf(100)}half`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    ],
    ['a connection closed without an answer', (socket) => socket.destroy()],
    ['something that is not HTTP', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
    ['two different lengths', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 5\r\n\r\nx')],
    ['a broken chunk', (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n')],
  ];
  test.each(broken)('%s is a network error', async (_name, answer) => {
    const { port } = await rawServer(answer);
    const result = await clientWith().send(post(`http://127.0.0.1:${port}/`), PATIENT);
    expect(result).toMatchObject({ kind: 'failed', permanent: false, error: expect.not.stringMatching(/^timeout$/) });
  });

  test('nothing listens on the port', async () => {
    const result = await clientWith().send(post('http://127.0.0.1:9/'), PATIENT);
    expect(result).toMatchObject({ kind: 'failed', permanent: false, error: expect.stringContaining('ECONNREFUSED') });
  });

  const packed = gzipSync('{"ok":true}');
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  test.each([
    ['gzip is unpacked', packed, '{"ok":true}'],
    ['broken gzip is an empty body', packed.subarray(0, 12), ''],
    ['no gzip at all is an empty body', Buffer.from('plain'), ''],
    ['a bomb is an empty body', bomb.subarray(0, 60_000), ''],
  ])('%s', async (_name, bytes, expected) => {
    const { port } = await rawServer((socket) => {
      socket.write(headOf(bytes.length, 'content-encoding: gzip\r\n'));
      socket.write(bytes);
    });
    const result = await clientWith().send(post(`http://127.0.0.1:${port}/`), PATIENT);
    expect(result).toMatchObject({ kind: 'reply', reply: { status: 200, body: expected } });
  });

  test('many at once on a silent host: each ends at its own time', async () => {
    const { port } = await rawServer(() => undefined);
    const client = clientWith();
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => timed(() => client.send(post(`http://127.0.0.1:${port}/`), 200 + i * 2))),
    );
    for (const [i, { result, took }] of all.entries()) {
      expect(result).toMatchObject({ kind: 'failed', error: 'timeout' });
      expect(took).toBeGreaterThan(200 + i * 2 - 10);
    }
  });
});

test('redirects are not followed', async () => {
  const { port, connections } = await rawServer((socket) =>
    socket.write(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n`),
  );
  expect(await clientWith().send(post(`http://127.0.0.1:${port}/`), PATIENT)).toMatchObject({ kind: 'reply', reply: { status: 302 } });
  expect(connections()).toBe(1);
});

describe('destinations refused before sending', () => {
  const headers: [string, Record<string, string>][] = [
    ['a line break in a value', { 'X-A': 'a\r\nX-B: b' }],
    ['a bare line feed', { 'X-A': 'a\nb' }],
    ['a NUL', { 'X-A': 'a\0' }],
    ['a character above Latin-1', { 'X-A': '→' }],
    ['a line break in a name', { 'X\r\nY': 'a' }],
    ['a colon in a name', { 'X:Y': 'a' }],
    ['another Host', { Host: 'other.example' }],
    ['Content-Length', { 'content-length': '3' }],
    ['Transfer-Encoding', { 'Transfer-Encoding': 'chunked' }],
    ['Connection', { Connection: 'upgrade' }],
    ['Expect', { Expect: '100-continue' }],
  ];
  test.each(headers)('%s', async (_name, given) => {
    const { port, connections } = await rawServer((socket) => socket.write(headOf(0)));
    const result = await clientWith().send(post(`http://127.0.0.1:${port}/`, given), PATIENT);
    expect(result).toMatchObject({ kind: 'failed', permanent: true });
    expect(connections()).toBe(0);
  });

  test.each([['not a url'], ['ftp://example.com/'], ['file:///etc/passwd'], ['']])('the URL %s', async (url) => {
    expect(await clientWith().send(post(url), PATIENT)).toMatchObject({ kind: 'failed', permanent: true });
  });

  test.each([
    ['http://127.0.0.1:%d/'],
    ['http://[::1]:%d/'],
    ['http://[::ffff:127.0.0.1]:%d/'],
    ['http://0x7f.0.0.1:%d/'],
    ['http://2130706433:%d/'],
    ['http://0.0.0.0:%d/'],
    ['http://localhost:%d/'],
  ])('a private destination in production: %s', async (form) => {
    const { port, connections } = await rawServer((socket) => socket.write(headOf(0)));
    const result = await clientWith({ allowPrivate: false }).send(post(form.replace('%d', String(port))), PATIENT);
    expect(result).toMatchObject({ kind: 'failed', permanent: true });
    expect(connections()).toBe(0);
  });
});

describe('names are resolved once, checked, and connected to as checked', () => {
  const resolving = (...answers: string[][]): ResolveAll & { asked: number } => {
    const resolve = ((_hostname, done) => {
      const answer = answers[Math.min(resolve.asked++, answers.length - 1)]!;
      setTimeout(
        () =>
          done(
            null,
            answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          ),
        1,
      );
    }) as ResolveAll & { asked: number };
    resolve.asked = 0;
    return resolve;
  };
  test.each([
    ['only private', ['10.0.0.1', '::1']],
    ['loopback', ['127.0.0.1']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['none', []],
  ])('a name with addresses %s is refused', async (_name, addresses) => {
    const result = await clientWith({ allowPrivate: false, resolveAll: resolving(addresses) }).send(
      post('http://rebind.example/'),
      PATIENT,
    );
    expect(result).toMatchObject({ kind: 'failed', permanent: true, error: 'rebind.example resolves to no public address' });
  });
  test('a name is asked for once by many, and its answer reached', async () => {
    const { port } = await rawServer((socket) => socket.write(headOf(0)));
    const resolveAll = resolving(['127.0.0.1']);
    const client = clientWith({ resolveAll });
    const results = await Promise.all(Array.from({ length: 20 }, () => client.send(post(`http://hook.example:${port}/`), PATIENT)));
    expect(results.every(({ kind }) => kind === 'reply')).toBe(true);
    expect(resolveAll.asked).toBe(1);
  });
  test('a name that does not resolve is tried again later', async () => {
    const resolveAll: ResolveAll = (_hostname, done) => done(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []);
    const result = await clientWith({ resolveAll }).send(post('http://gone.example/'), PATIENT);
    expect(result).toMatchObject({ kind: 'failed', permanent: false, error: expect.stringContaining('ENOTFOUND') });
  });
  test('a resolver that never answers holds one name only, until the time is up', async () => {
    const { port } = await rawServer((socket) => socket.write(headOf(0)));
    const resolveAll: ResolveAll = (hostname, done) => {
      if (hostname === 'good.example') done(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const client = clientWith({ resolveAll });
    const dead = client.send(post('http://dead.example/'), 300);
    expect((await client.send(post(`http://good.example:${port}/`), PATIENT)).kind).toBe('reply');
    expect(await dead).toMatchObject({ kind: 'failed', error: 'timeout' });
  });
});
