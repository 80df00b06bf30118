import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorReply, writeReply } from './http/collection-reply.ts';
import { answerMeanwhile, createAdminSlot, type Listeners, openListeners, refuseCollection } from './listeners.ts';
import { createLogger } from './runtime/logger.ts';

const logger = createLogger('silent');

let listeners: Listeners;
beforeAll(async () => {
  listeners = await openListeners({
    settings: { port: 0, host: '127.0.0.1', ingestPort: undefined, metricsPort: undefined },
    logger,
    health: () => false,
    metrics: () => false,
    collection: [
      (req, res) => {
        if (req.url === '/throws' || req.url === '/v1/admin/throws') throw new Error('a bug');
        if (!req.url?.startsWith('/v1/t')) return false;
        req.on('end', () => res.end(`heard ${req.url}`)).resume();
        return true;
      },
    ],
    admin: {
      handle: (req, res) => writeReply(res, errorReply({ code: 'not_found' }, req.headers.origin)),
      attach: (server) => server.on('upgrade', (_req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')),
      detach: () => undefined,
    },
  });
});
afterAll(() => listeners.close());

async function talk(...parts: string[]): Promise<string> {
  const socket = connect(Number(new URL(listeners.addresses.main).port), '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await once(socket, 'connect');
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await closed;
  return said;
}
const HEAD = 'POST /v1/t HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\n';

const UNREADABLE: [name: string, parts: string[], status: number, error: string, origin: string][] = [
  ['headers past their bound', [`${HEAD}X-A: ${'a'.repeat(20_000)}\r\n\r\n`], 431, 'payload_too_large', '*'],
  ['an address past its bound', [`POST /v1/t?${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`], 431, 'payload_too_large', '*'],
  ['a length and chunks', [`${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n`], 400, 'validation_failed', '*'],
  ['a negative length', [`${HEAD}Content-Length: -1\r\n\r\n`], 400, 'validation_failed', '*'],
  ['a folded header', [`${HEAD}X-A: a\r\n b\r\n\r\n`], 400, 'validation_failed', '*'],
  [
    'a broken chunk, after the request is known',
    [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '5\r\n{"typ\r\n', 'zz\r\n'],
    400,
    'validation_failed',
    'https://shop.example',
  ],
  [
    'a chunk with 20 KB of extensions',
    [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `5;${'x'.repeat(20_000)}\r\n`],
    413,
    'payload_too_large',
    'https://shop.example',
  ],
];
test.each(UNREADABLE)('%s is refused in the shape of the collection side', async (_name, parts, status, error, origin) => {
  const said = await talk(...parts);
  expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  const [head, body] = said.split('\r\n\r\n') as [string, string];
  expect(JSON.parse(body)).toEqual({ error, message: expect.stringMatching(/\w/) });
  expect(head).toContain(`Content-Length: ${body.length}`);
  expect(head).toContain('Content-Type: application/json');
  expect(head).toContain(`Access-Control-Allow-Origin: ${origin}\r\n`);
  expect(head).toContain('Vary: Origin');
});
test.each([['garbage\r\n\r\n'], ['POST /docs HTTP/1.1\r\nContent-Length: x\r\n\r\n']])('%s has no shape', async (bytes) => {
  expect(await talk(bytes)).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
});

/** The status and code of an answer in the shape of the management API. Fails where another shape or no request id came. */
function managementError(said: string): [status: number, code: string, requestId: string] {
  const [head, body] = said.split('\r\n\r\n') as [string, string];
  expect(head).toMatch(/\r\ncontent-type: application\/json/i);
  const { error } = JSON.parse(/\{.*\}/s.exec(body)?.[0] ?? '') as { error: { code: string; message: string } };
  expect(error.message).toMatch(/\w/);
  return [Number(head.slice(9, 12)), error.code, /\r\nx-request-id: (\S+)/i.exec(head)?.[1] ?? ''];
}
const ADMIN = 'POST /v1/admin/pipelines HTTP/1.1\r\nHost: x\r\n';
test.each([
  ['a bad length', [`${ADMIN}Content-Length: x\r\n\r\n`], 400, 'INVALID_JSON'],
  ['a query after the prefix', ['GET /v1/admin?x HTTP/1.1\r\nContent-Length: x\r\n\r\n'], 400, 'INVALID_JSON'],
  ['headers past their bound', [`${ADMIN}X-A: ${'a'.repeat(20_000)}\r\n\r\n`], 431, 'PAYLOAD_TOO_LARGE'],
  ['a handler that threw', ['GET /v1/admin/throws HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'], 500, 'INTERNAL_ERROR'],
])('%s at the management API gets its error shape and a request id', async (_name, parts, status, code) => {
  expect(managementError(await talk(...parts))).toEqual([status, code, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});
test('while PostgreSQL is unavailable at the start, a 503 has a request id, and so has a 404 without the admin role', async () => {
  const settings = { port: 0, host: '127.0.0.1', ingestPort: undefined, metricsPort: undefined };
  const rest = { settings, logger, health: () => false, metrics: () => false, collection: [refuseCollection] };
  for (const [admin, status, code] of [
    [createAdminSlot(), 503, 'UNAVAILABLE'],
    [undefined, 404, 'NOT_FOUND'],
  ] as const) {
    const opened = await openListeners({ ...rest, admin });
    const answer = await fetch(`${opened.addresses.main}/v1/admin/pipelines`, { headers: { 'x-request-id': 'mine-1' } });
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([status, code]);
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    expect(answer.headers.get('retry-after')).toBe(status === 503 ? '2' : null);
    await opened.close();
  }
});
test.each([
  ['http://collect.example/v1/t?x=1', 'heard /v1/t?x=1'],
  ['HTTP://collect.example:80/v1/t', 'heard /v1/t'],
  ['http://collect.example', 'not_found'],
])('a request line may hold the whole address: %s', async (address, heard) => {
  expect(await talk(`POST ${address} HTTP/1.1\r\nHost: collect.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)).toContain(
    heard,
  );
});
test('an unknown path gets an error of the same shape', async () => {
  const response = await fetch(`${listeners.addresses.main}/v1/unknown`, { method: 'POST', headers: { origin: 'https://shop.example' } });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([404, 'https://shop.example']);
  expect(await response.json()).toEqual({ error: 'not_found', message: 'There is nothing at this address.' });
});

test.each([
  ['HTTP/2, as Java offers it with every request', 'POST', 'h2c', 'heard /v1/t'],
  ['something unknown', 'POST', 'carrier-pigeon', 'heard /v1/t'],
  ['a WebSocket with an event in the request', 'POST', 'websocket', 'heard /v1/t'],
  ['a WebSocket', 'GET', 'WebSocket', '101 Switching Protocols'],
])('an offer to change the protocol to %s', async (_name, method, protocol, heard) => {
  const head = `${method} /v1/t HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\nUpgrade: ${protocol}\r\n`;
  expect(await talk(`${head}Content-Length: 2\r\n\r\n{}`)).toContain(heard);
});

test.each([
  ['INGEST_PORT: port \\d+ is in use: ', { port: 0, host: '127.0.0.1', taken: true }],
  ['HOST: ', { port: 0, host: '999.1.1.1', taken: false }],
])('a listener that cannot open says %s', async (fault, { port, host, taken }) => {
  const ingestPort = taken ? Number(new URL(listeners.addresses.main).port) : undefined;
  const opening = openListeners({
    settings: { port, host, ingestPort, metricsPort: undefined },
    logger,
    health: () => false,
    metrics: () => false,
    collection: [],
    admin: undefined,
  });
  await expect(opening).rejects.toThrow(new RegExp(`^${fault}`));
});

test('a start that waits ends when its listener cannot open, and closes the listener when it goes on', async () => {
  const waits = Promise.withResolvers<string>();
  await expect(answerMeanwhile(waits.promise, () => Promise.reject(new Error('PORT: port 80 is in use')))).rejects.toThrow('in use');
  let open = 0;
  const going = answerMeanwhile(waits.promise, async () => {
    open++;
    waits.resolve('going on');
    return { close: async () => void open-- };
  });
  expect([await going, open]).toEqual(['going on', 0]);
});

test('a handler that throws fails its own request and nothing else', async () => {
  expect(await talk('GET /throws HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 500 [\s\S]*"internal_error"/);
  expect(await talk(`${HEAD}Content-Length: 0\r\nConnection: close\r\n\r\n`)).toContain('heard /v1/t');
});

const ADMIN_ONLY = {
  settings: { port: 0, host: '127.0.0.1', ingestPort: undefined, metricsPort: undefined },
  logger,
  health: () => false,
  metrics: () => false,
  collection: [],
};
test('an error while accepting a connection does not end the process', async () => {
  let server: Server | undefined;
  const opened = await openListeners({
    ...ADMIN_ONLY,
    admin: {
      handle: (_req, res) => res.end(),
      attach: (main) => {
        server = main;
      },
      detach: () => undefined,
    },
  });
  // Node emits it for each failed accept: a single handler that removes itself would not be enough.
  for (let i = 0; i < 3; i++) server?.emit('error', Object.assign(new Error('accept ENFILE'), { code: 'ENFILE' }));
  expect((await fetch(opened.addresses.main)).status).toBe(200);
  await opened.close();
});

/** A listener that answers every request, those to `/slow` once the test calls `slow`, and accepts WebSockets. */
async function openForDrain(detach: (sockets: Duplex[]) => void, slow: (() => void)[] = []) {
  const sockets: Duplex[] = [];
  return openListeners({
    ...ADMIN_ONLY,
    admin: {
      handle(req, res) {
        if (req.url === '/slow') slow.push(() => res.end('answered'));
        else res.end('answered');
      },
      attach: (server) =>
        server.on('upgrade', (_req, socket) => {
          sockets.push(socket);
          socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
        }),
      detach: () => detach(sockets),
    },
  });
}
function connectTo({ addresses }: Listeners) {
  const socket = connect(Number(new URL(addresses.main).port), '127.0.0.1');
  const seen = { text: '', ended: false, errors: [] as Error[] };
  socket.on('data', (chunk) => (seen.text += chunk.toString('latin1')));
  socket.on('end', () => (seen.ended = true));
  socket.on('error', (error) => seen.errors.push(error));
  return { socket, seen };
}
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
test('while draining, a kept connection stays open until its next answer, which closes it', async () => {
  const slow: (() => void)[] = [];
  const opened = await openForDrain(() => undefined, slow);
  const waiting = connectTo(opened);
  waiting.socket.write(GET.replace('/', '/slow'));
  await expect.poll(() => slow.length).toBe(1);
  const busy = connectTo(opened);
  const idle = connectTo(opened);
  for (const { socket, seen } of [busy, idle]) {
    socket.write(GET);
    await expect.poll(() => seen.text).toMatch(/\r\nConnection: keep-alive\r\n[\s\S]*answered/);
  }
  opened.drain();
  busy.seen.text = '';
  busy.socket.write(GET);
  await expect.poll(() => busy.seen.ended).toBe(true);
  slow[0]!();
  await expect.poll(() => waiting.seen.ended).toBe(true);
  for (const { seen } of [busy, waiting]) expect(seen.text).toMatch(/\r\nConnection: close\r\n[\s\S]*answered/);
  expect((await fetch(opened.addresses.main)).headers.get('connection')).toBe('close');
  expect(idle.seen.ended, 'the idle one may still send').toBe(false);
  await opened.close();
  await expect.poll(() => idle.seen.ended).toBe(true);
  expect([...busy.seen.errors, ...waiting.seen.errors, ...idle.seen.errors]).toEqual([]);
});
test.each([
  ['is closed by its owner', (sockets: Duplex[]) => sockets.forEach((socket) => void socket.end())],
  ['stays open', () => undefined],
])('an open WebSocket does not hold up a stop: one that %s', async (_name, detach) => {
  const opened = await openForDrain(detach);
  const { socket, seen } = connectTo(opened);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await expect.poll(() => seen.text).toContain('101 Switching Protocols');
  await opened.close();
  socket.destroy();
});
