/** A listener and a server in one thread, with the connection between two threads in the middle. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { ThreadLink } from '../runtime/thread-link.ts';
import { type ThreadSocket, ThreadSockets } from '../runtime/thread-socket.ts';
import { forwardRequest, forwardUpgrades } from './forward.ts';
import { servedServerOptions, serverOptions } from './server-options.ts';

interface Forwarded {
  port: number;
  listener: Server;
  server: Server;
  failures: Error[];
  /** Both sides of every connection. */
  sockets: ThreadSocket[];
}

async function forwarded(serve: RequestListener, ready: Promise<void> = Promise.resolve()): Promise<Forwarded> {
  const { port1, port2 } = new MessageChannel();
  const server = createServer(servedServerOptions, serve);
  const sockets: ThreadSocket[] = [];
  new ThreadSockets(new ThreadLink(port2), (socket) => {
    sockets.push(socket);
    server.emit('connection', socket);
  });
  const here = new ThreadSockets(new ThreadLink(port1));
  const open = (address: string | undefined) => {
    const socket = here.open(address);
    sockets.push(socket);
    return socket;
  };
  const failures: Error[] = [];
  const listener = createServer(serverOptions, async (req, res) => {
    if (req.url === '/early') await ready;
    forwardRequest(req, res, open, (error) => {
      failures.push(error);
      res.writeHead(500).end();
    });
  });
  forwardUpgrades(listener, open, ready);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    listener.close();
    listener.closeAllConnections();
    port1.close();
    port2.close();
  });
  return { port: (listener.address() as AddressInfo).port, listener, server, failures, sockets };
}

/** What the server saw of a request, as JSON. */
async function mirror(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req);
  const { method, url, rawHeaders } = req;
  res.setHeader('set-cookie', ['a=1', 'b=2']);
  res.end(JSON.stringify({ method, url, rawHeaders, ip: req.socket.remoteAddress, size: body.length, last: body.at(-1) }));
}

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  raw: string[];
  text: string;
}
function ask(port: number, options: Parameters<typeof request>[1] & { parts?: Buffer[] }): Promise<Reply> {
  const { parts = [], ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', ...rest }, (answer) => {
      const { statusCode = 0, headers, rawHeaders: raw } = answer;
      buffer(answer).then((bytes) => resolve({ status: statusCode, headers, raw, text: bytes.toString() }), reject);
    });
    sent.on('error', reject);
    for (const part of parts) sent.write(part);
    sent.end();
  });
}
const MB = Buffer.alloc(1_000_000, 7);

const CASES: [name: string, options: Parameters<typeof ask>[1] & { headers?: Record<string, string | number> }, size: number][] = [
  ['GET', { method: 'GET', path: '/v1/admin/pipelines?search=a%20b' }, 0],
  ['POST with a length', { method: 'POST', path: '/a', headers: { 'content-length': MB.length }, parts: [MB] }, MB.length],
  ['POST in chunks', { method: 'POST', path: '/a', headers: { 'transfer-encoding': 'chunked' }, parts: [MB, MB] }, 2 * MB.length],
  ['DELETE with a body in chunks', { method: 'DELETE', path: '/a', headers: { 'transfer-encoding': 'chunked' }, parts: [MB] }, MB.length],
  ['GET with a body', { method: 'GET', path: '/a', headers: { 'content-length': 3 }, parts: [Buffer.from('abc')] }, 3],
  [
    'PUT that expects 100',
    { method: 'PUT', path: '/a', headers: { expect: '100-continue', 'content-length': 3 }, parts: [Buffer.from('abc')] },
    3,
  ],
];
test.each(CASES)('%s reaches the server as it was sent', async (_, options, size) => {
  const { port } = await forwarded(mirror);
  const { status, text, raw } = await ask(port, { ...options, headers: { 'x-one': 'one, two', ...options.headers } });
  const seen = JSON.parse(text);
  expect([status, seen.method, seen.url, seen.size, seen.ip]).toEqual([200, options.method, options.path, size, '127.0.0.1']);
  expect(seen.rawHeaders.join('\n')).toContain('x-one\none, two');
  expect(seen.rawHeaders).toContain(`127.0.0.1:${port}`);
  expect(raw.filter((name) => name === 'set-cookie')).toHaveLength(2);
});

test('a header outside ASCII stays as it is', async () => {
  const { port } = await forwarded((req, res) => res.writeHead(200, { 'x-one': req.headers['x-one'] as string }).end());
  expect((await ask(port, { path: '/', headers: { 'x-one': 'ü' } })).headers['x-one']).toBe('ü');
});

test('an answer has its status, headers and body, and no second date', async () => {
  const { port } = await forwarded((req, res) => {
    if (req.method === 'HEAD') res.writeHead(200, { 'content-length': 12 }).end();
    else if (req.url === '/none') res.writeHead(204).end();
    else res.writeHead(418, 'Short and stout', { 'x-tea': 'yes' }).end(MB);
  });
  const tea = await ask(port, { path: '/' });
  expect([tea.status, tea.headers['x-tea'], tea.text.length]).toEqual([418, 'yes', MB.length]);
  expect(tea.raw.filter((name) => name.toLowerCase() === 'date')).toHaveLength(1);
  expect((await ask(port, { method: 'HEAD', path: '/' })).headers['content-length']).toBe('12');
  expect((await ask(port, { path: '/none' })).status).toBe(204);
});

test('the memory of an answer is free as soon as it is sent (it waited for the collector, which held the events up)', async () => {
  const { port } = await forwarded(async (_, res) => {
    for (let i = 0; i < 100; i++) if (!res.write(MB)) await once(res, 'drain');
    res.end();
  });
  let [most, size] = [0, 0];
  const before = process.memoryUsage().arrayBuffers;
  // A client that makes no memory itself.
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback(length: number): boolean {
      size += length;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      return true;
    },
  };
  const socket = connect({ port, host: '127.0.0.1', onread });
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  await once(socket, 'close');
  expect(size).toBeGreaterThan(100 * MB.length);
  expect(most).toBeLessThan(10_000_000);
});

test('many requests over one connection each get their own answer, and nothing of them stays open', async () => {
  const { port, server, sockets } = await forwarded((req, res) => setTimeout(() => res.end(req.url), 5));
  const broken: Error[] = [];
  server.on('clientError', (error) => broken.push(error));
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk;
  });
  for (let i = 0; i < 5; i++) socket.write(`GET /n${i} HTTP/1.1\r\nHost: x\r\n\r\n`);
  while ((said.match(/\/n\d/g) ?? []).length < 5) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(said.match(/\/n\d/g)).toEqual(['/n0', '/n1', '/n2', '/n3', '/n4']);
  while (sockets.some(({ closed }) => !closed)) await new Promise((resolve) => setTimeout(resolve, 5));
  expect([sockets.length, broken]).toEqual([10, []]);
  socket.destroy();
});

test('a body that the server answers without reading it does not hold up the next request', async () => {
  const { port, sockets } = await forwarded((req, res) => res.end(req.url));
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk;
  });
  socket.write(`POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: ${3 * MB.length}\r\n\r\n`);
  while (!said.includes('/first')) await new Promise((resolve) => setTimeout(resolve, 5));
  for (let i = 0; i < 3; i++) socket.write(MB);
  socket.write('GET /second HTTP/1.1\r\nHost: x\r\n\r\n');
  while (!said.includes('/second')) await new Promise((resolve) => setTimeout(resolve, 5));
  while (sockets.some(({ closed }) => !closed)) await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
});

test('a request whose body is refused by a server that closed does not hold up the next one', async () => {
  const { port } = await forwarded((req, res) => (req.url === '/first' ? req.socket.destroy() : res.end(req.url)));
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk;
  });
  socket.write(`POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: ${3 * MB.length}\r\n\r\n`);
  while (!said.includes('500')) await new Promise((resolve) => setTimeout(resolve, 5));
  for (let i = 0; i < 3; i++) socket.write(MB);
  socket.write('GET /second HTTP/1.1\r\nHost: x\r\n\r\n');
  while (!said.includes('/second')) await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
});

test('a request of HTTP/1.0 needs no host', async () => {
  const { port } = await forwarded((req, res) => res.end(req.url));
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /old HTTP/1.0\r\n\r\n');
  const said = String(await buffer(socket));
  expect(said).toMatch(/^HTTP\/1\.1 200 .*connection: close.*\r\n\r\n\/old$/is);
  expect(said).not.toMatch(/transfer-encoding/i);
});

test('a client that goes away ends the request at the server', async () => {
  const gone = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const { port } = await forwarded((req) => {
    req.on('close', () => gone.resolve());
    began.resolve();
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  await began.promise;
  socket.destroy();
  await gone.promise;
});

test('requests whose client went away before they could be passed on stay here', async () => {
  const ready = Promise.withResolvers<void>();
  const { port, listener, sockets } = await forwarded((_req, res) => res.end('done'), ready.promise);
  const closed: Promise<void>[] = [];
  listener.on('request', ({ socket }) => closed.push(new Promise((resolve) => socket.on('close', resolve))));
  const [one, several] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  one.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  several.write('GET /early HTTP/1.1\r\nHost: x\r\n\r\nGET /early HTTP/1.1\r\nHost: x\r\n\r\n');
  while (closed.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  one.destroy();
  several.destroy();
  await Promise.all(closed);
  ready.resolve();
  expect((await ask(port, { path: '/' })).text).toBe('done');
  expect(sockets).toHaveLength(2);
});

test('a server that closes without an answer is reported', async () => {
  const { port, failures } = await forwarded((req) => req.socket.destroy());
  expect((await ask(port, { path: '/' })).status).toBe(500);
  expect(failures).toHaveLength(1);
});

test('an answer that breaks off is not taken for complete', async () => {
  const { port } = await forwarded((req, res) => {
    res.writeHead(200, { 'content-length': 1_000 });
    res.write('half', () => req.socket.destroy());
  });
  await expect(ask(port, { path: '/' })).rejects.toThrow(/aborted|socket hang up/);
});

test('a server that refuses a body while it is sent has its answer arrive', async () => {
  const { port } = await forwarded((_req, res) => res.writeHead(413, { connection: 'close' }).end('too large'));
  const { status, headers, text } = await ask(port, {
    method: 'POST',
    path: '/',
    headers: { 'content-length': 3 * MB.length },
    parts: [MB, MB, MB],
  });
  expect([status, headers.connection, text]).toEqual([413, 'close', 'too large']);
});

test('an upgraded connection passes bytes both ways, also what came before it was ready', async () => {
  const ready = Promise.withResolvers<void>();
  const { port, server } = await forwarded((_req, res) => res.end(), ready.promise);
  server.on('upgrade', (req, socket, head) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n${req.url} `);
    socket.write(head);
    socket.pipe(socket);
  });
  const client = connect(port, '127.0.0.1');
  let said = '';
  client.on('data', (chunk) => {
    said += chunk;
  });
  client.write('GET /live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly ');
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(said).toBe('');
  ready.resolve();
  while (!said.includes('early')) await new Promise((resolve) => setTimeout(resolve, 5));
  client.write('late');
  while (!said.includes('late')) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(said).toMatch(/\/live early late$/);
  const ended = new Promise((resolve) => client.on('close', resolve));
  client.end();
  await ended;
});

test('an upgrade whose client went away before it was ready is not passed on', async () => {
  const ready = Promise.withResolvers<void>();
  const { port, listener, server, sockets } = await forwarded((_req, res) => res.end(), ready.promise);
  server.on('upgrade', (_req, socket) => socket.end());
  const upgrade = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  const gone = connect(port, '127.0.0.1');
  const upgraded = once(listener, 'upgrade');
  gone.write(upgrade('/gone'));
  const [, accepted] = await upgraded;
  gone.resetAndDestroy();
  await new Promise((resolve) => accepted.on('close', resolve));
  ready.resolve();
  const stays = connect(port, '127.0.0.1');
  stays.write(upgrade('/stays'));
  await buffer(stays);
  expect(sockets).toHaveLength(2);
});
