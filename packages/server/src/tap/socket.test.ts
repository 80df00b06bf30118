import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../runtime/clock.ts';
import { inProcessEphemeral } from '../stores/ephemeral/in-process.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { attachDebugSocket, MAX_MESSAGES, TOO_MANY_MESSAGES } from './socket.ts';
import { createTap } from './tap.ts';

let server: Server;
let ephemeral: Ephemeral;
let debug: { close(): void };
let tap: ReturnType<typeof createTap>;
let removed = false;
let checkDelayMs = 0;
let revoked: string[] = [];
let asked: (readonly string[])[] = [];

beforeEach(async () => {
  removed = false;
  checkDelayMs = 0;
  revoked = [];
  asked = [];
  ephemeral = inProcessEphemeral();
  tap = createTap(ephemeral, systemClock);
  server = createServer();
  debug = attachDebugSocket(server, {
    ephemeral,
    clock: systemClock,
    hideSecrets: (frame) => JSON.parse(JSON.stringify(frame).replaceAll('hidden-parameter', '••••')),
    readCounts: async () => ({ waiting: 3 }),
    liveApiTokens: async (ids) => {
      asked.push(ids);
      return new Set(ids.filter((id) => !revoked.includes(id)));
    },
    checkToken: async (token) => {
      if (checkDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, checkDelayMs));
      const [orgId, ttl] = token.split(':');
      const api_token_id = token.startsWith('fht_') ? token : undefined;
      return token === 'bad' || removed
        ? { ok: false }
        : { ok: true, org_id: orgId!, expires_at: Date.now() + Number(ttl ?? 60_000), api_token_id };
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  debug.close();
  tap.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function connect(query: string, protocols?: string[], headers?: Record<string, string>) {
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/admin/debug/live${query}`, protocols, {
    headers,
  });
  const frames: Record<string, unknown>[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Record<string, unknown>));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const opened = new Promise((resolve) => socket.on('open', resolve));
  return { socket, frames, closed, opened };
}
async function watched(orgId: string): Promise<void> {
  await expect.poll(() => tap.watched(orgId)).toBe(true);
}

describe('the debug socket', () => {
  test.each<[string, Parameters<typeof connect>]>([
    ['in the query', ['?token=org_1']],
    ['in the header', ['', undefined, { authorization: 'Bearer org_1' }]],
    ['as a subprotocol', ['', ['bearer', 'org_1']]],
  ])('takes the token %s and shows only the own organisation', async (_name, args) => {
    const { frames, socket } = connect(...args);
    await watched('org_1');
    tap.emit('org_2', { stage: 'received', event_id: 'foreign' });
    tap.emit('org_1', { stage: 'received', event_id: 'e1' });
    await expect
      .poll(() => frames)
      .toEqual([
        {
          time: expect.any(String),
          seq: 1,
          stage: 'received',
          pipeline_id: null,
          integration_id: null,
          event_id: 'e1',
          type: null,
          event: null,
          reason: null,
          duration_ms: null,
          status: null,
          payload: null,
        },
      ]);
    socket.terminate();
  });

  test('a reader that asks for heartbeats is told that it is accepted, and a refused one is not', async () => {
    const { frames, socket } = connect('?token=org_1&heartbeat=true');
    await expect.poll(() => frames).toEqual([{ stage: 'heartbeat' }]);
    socket.terminate();
    const refused = connect('?token=bad&heartbeat=true');
    expect(await refused.closed).toBe(4401);
    expect(refused.frames).toEqual([]);
  });

  test('every reader is pinged, and one that asked for it gets heartbeats', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const [asking, plain] = [connect('?token=org_1&heartbeat=true'), connect('?token=org_1')];
      let pings = 0;
      plain.socket.on('ping', () => pings++);
      await expect.poll(() => asking.frames.length).toBe(1);
      await plain.opened;
      await expect
        .poll(() => {
          vi.advanceTimersByTime(15_000);
          return [asking.frames.length > 1, pings > 0];
        })
        .toEqual([true, true]);
      expect(plain.frames).toEqual([]);
      for (const { socket } of [asking, plain]) socket.terminate();
    } finally {
      vi.useRealTimers();
    }
  });

  test('a bad or missing token closes with 4401, one that expires with 4408', async () => {
    expect(await connect('?token=bad').closed).toBe(4401);
    expect(await connect('').closed).toBe(4401);
    expect(await connect('?token=org_1:80').closed).toBe(4408);
  });

  test('a revoked API token loses its sockets, by one query for all API tokens', async () => {
    const sockets = ['fht_a', 'fht_a', 'fht_b', 'org_1'].map((token) => connect(`?token=${token}`));
    for (const orgId of ['fht_a', 'fht_b', 'org_1']) await watched(orgId);
    await expect.poll(() => asked.at(-1)).toEqual(['fht_a', 'fht_b']);
    revoked = ['fht_a'];
    expect(await Promise.all(sockets.slice(0, 2).map(({ closed }) => closed))).toEqual([4401, 4401]);
    await expect.poll(() => asked.at(-1)).toEqual(['fht_b']);
    expect(sockets.slice(2).map(({ socket }) => socket.readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
    for (const { socket } of sockets) socket.terminate();
  });

  test('filters in the query and in a later message', async () => {
    const { frames, socket } = connect('?token=org_1&stage=dropped');
    await watched('org_1');
    tap.emit('org_1', { stage: 'received', event_id: 'e1' });
    tap.emit('org_1', { stage: 'dropped', event_id: 'e2' });
    await expect.poll(() => frames.length).toBe(1);
    socket.send(JSON.stringify({ type: 'filter', pipeline_id: 'pl_2' }));
    socket.send('nonsense');
    await expect.poll(() => frames.length).toBe(2);
    tap.emit('org_1', { stage: 'dropped', pipeline_id: 'pl_1', event_id: 'e3' });
    tap.emit('org_1', { stage: 'received', pipeline_id: 'pl_2', event_id: 'e4' });
    await expect.poll(() => frames.map((frame) => frame.event_id ?? frame.stage)).toEqual(['e2', 'error', 'e4']);
    socket.terminate();
  });

  test('a reader that asks for no frames gets those of the scopes that it names later, until it names none', async () => {
    const { frames, socket } = connect('?token=org_1&frames=none&heartbeat=true');
    await expect.poll(() => frames.length).toBe(1);
    expect(tap.watched('org_1')).toBe(false);
    const wrong = [[{ stage: 'nowhere' }], [{ pipeline_id: 5 }], [null], {}, Array.from({ length: 5 }, () => ({}))];
    for (const scopes of wrong) socket.send(JSON.stringify({ type: 'frames', scopes }));
    await expect.poll(() => frames.slice(1)).toEqual(wrong.map(() => ({ stage: 'error', reason: expect.stringContaining('"frames"') })));
    socket.send(JSON.stringify({ type: 'frames', scopes: [{ pipeline_id: 'pl_1' }, { integration_id: 'int_2' }] }));
    await watched('org_1');
    const emit = (event_id: string, pipeline_id: string, integration_id: string) =>
      tap.emit('org_1', { stage: 'delivered', event_id, pipeline_id, integration_id });
    emit('e1', 'pl_1', 'int_1');
    emit('e2', 'pl_2', 'int_2');
    emit('e3', 'pl_2', 'int_3');
    emit('e4', 'pl_1', 'int_1');
    await expect.poll(() => frames.slice(6).map(({ event_id }) => event_id)).toEqual(['e1', 'e2', 'e4']);
    socket.send(JSON.stringify({ type: 'frames', scopes: [] }));
    socket.send('nonsense');
    await expect.poll(() => frames.length).toBe(10);
    emit('e5', 'pl_1', 'int_1');
    socket.send(JSON.stringify({ type: 'filter' }));
    await expect
      .poll(() => {
        emit('e6', 'pl_2', 'int_3');
        return frames[10]?.event_id;
      })
      .toBe('e6');
    socket.terminate();
  });

  test('an unknown stage is reported, and the previous filter stays', async () => {
    const { frames, socket } = connect('?token=org_1&stage=droped');
    await watched('org_1');
    await expect.poll(() => frames.length).toBe(1);
    expect(frames[0]).toMatchObject({ stage: 'error', reason: expect.stringContaining('dead_lettered') });
    socket.send(JSON.stringify({ type: 'filter', stage: 'dropped' }));
    socket.send(JSON.stringify({ type: 'filter', stage: 'nowhere' }));
    await expect.poll(() => frames.length).toBe(2);
    tap.emit('org_1', { stage: 'received', event_id: 'e1' });
    tap.emit('org_1', { stage: 'dropped', event_id: 'e2' });
    await expect.poll(() => frames.map((frame) => frame.event_id ?? frame.stage)).toEqual(['error', 'error', 'e2']);
    socket.terminate();
  });

  test('a slow reader loses frames, is told how many, and buffers stay bounded', async () => {
    const { frames, socket, opened } = connect('?token=org_1');
    await opened;
    await watched('org_1');
    socket.pause();
    const payload = 'x'.repeat(100_000);
    for (let i = 0; i < 300; i++) {
      tap.emit('org_1', { stage: 'received', payload });
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    socket.resume();
    await expect.poll(() => frames.length).toBeGreaterThan(0);
    await expect
      .poll(() => {
        tap.emit('org_1', { stage: 'received', event_id: 'after' });
        return frames.find((frame) => frame.stage === 'skipped')?.count;
      })
      .toBeGreaterThan(0);
    socket.terminate();
  });

  test('a filter sent on open, before the token is checked, is in force', async () => {
    checkDelayMs = 50;
    const { frames, socket, opened } = connect('?token=org_1');
    await opened;
    socket.send(JSON.stringify({ type: 'filter', stage: 'dropped' }));
    await watched('org_1');
    tap.emit('org_1', { stage: 'received', event_id: 'e1' });
    tap.emit('org_1', { stage: 'dropped', event_id: 'e2' });
    await expect.poll(() => frames.map((frame) => frame.event_id)).toEqual(['e2']);
    socket.terminate();
  });

  test('live counts follow for each scope; a list of scopes that is not valid is refused', async () => {
    const { frames, socket, opened } = connect('?token=org_1');
    await opened;
    const wrong = [[{ group_by: 'event' }], [{ pipeline_id: 5 }], [null], 'all', Array.from({ length: 5 }, () => ({}))];
    for (const scopes of [...wrong, [{ pipeline_id: 'pl_1' }]]) socket.send(JSON.stringify({ type: 'counts', scopes }));
    await expect.poll(() => frames.length).toBe(6);
    expect(frames.slice(0, 5)).toEqual(wrong.map(() => ({ stage: 'error', reason: expect.stringContaining('at most 4 scopes') })));
    expect(frames[5]).toMatchObject({ stage: 'counts', scope: { pipeline_id: 'pl_1' }, counts: { waiting: 3 } });
    socket.terminate();
  });

  test('a client that sends messages without end and reads no answer filled the memory: it is disconnected', async () => {
    const { socket, opened, closed } = connect('?token=org_1');
    await opened;
    await watched('org_1');
    const messages = ['?', '{"type":"frames","scopes":[]}', '{"type":"counts","scopes":[]}'];
    for (let n = 0; n <= MAX_MESSAGES; n++) socket.send(messages[n % messages.length]!);
    expect(await closed).toBe(TOO_MANY_MESSAGES);
  });

  test('pings and messages of a client that does not read are not answered, and are answered again when it reads', async () => {
    const { socket, opened, frames } = connect('?token=org_1');
    const pongs: string[] = [];
    socket.on('pong', (data) => pongs.push(String(data)));
    await opened;
    await watched('org_1');
    let looks = 0;
    const buffered = vi.spyOn(WebSocket.prototype, 'bufferedAmount', 'get').mockImplementation(() => {
      looks++;
      return 1_000_000;
    });
    socket.ping('unread');
    socket.send('unread');
    await expect.poll(() => looks).toBe(2);
    buffered.mockRestore();
    socket.ping('read');
    socket.send('read');
    await expect.poll(() => frames).toHaveLength(1);
    expect(pongs).toEqual(['read']);
    socket.close();
  });

  test('no frame is built without watchers', () => {
    expect(tap.watched('org_1')).toBe(false);
  });
});

/** Sends one raw upgrade request and resolves with the status line, or with '' where the server just hung up. */
async function upgrade(target: string, headers: Record<string, string> = {}, { method = 'GET', reset = false } = {}): Promise<string> {
  const stream = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
  const lines = Object.entries({ host: 'x', connection: 'Upgrade', upgrade: 'websocket', ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
  let answer = '';
  stream.on('data', (chunk) => {
    answer += chunk.toString('latin1');
    if (answer.startsWith('HTTP/1.1 101')) stream.destroy();
  });
  stream.on('error', () => undefined);
  const closed = new Promise((resolve) => stream.on('close', resolve));
  stream.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1', () => reset && stream.resetAndDestroy());
  await closed;
  return answer.split('\r\n', 1)[0]!;
}

describe('upgrade requests from outside', () => {
  test.each([
    '//[',
    '//[::1',
    '//',
    '/\\[',
    'http://[',
    'http://a:b:c/',
    '//%',
    '//a b',
    '*',
    '//\u0080',
    `//[${'x'.repeat(4_000)}`,
  ])('one for %j is refused and the server stays up', async (target) => {
    expect(await upgrade(target)).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(await connect('?token=bad').closed).toBe(4401);
  });

  test('a refused one gets the error shape of the management API and a request id', async () => {
    const { port } = server.address() as AddressInfo;
    for (const [path, key, code] of [
      ['/v1/admin/elsewhere', 'dGhlIHNhbXBsZSBub25jZQ==', 'NOT_FOUND'],
      ['/v1/admin/debug/live', 'short', 'INVALID_JSON'],
    ] as const) {
      const answer = await new Promise<IncomingMessage>((resolve, reject) =>
        get(
          { port, host: '127.0.0.1', path, headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': key } },
          resolve,
        ).on('error', reject),
      );
      expect(JSON.parse(await text(answer))).toMatchObject({ error: { code } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('wild methods, targets and headers, also with the connection reset, never reach the process', async () => {
    const texts = fc.string({ unit: fc.constantFrom(...'/[]:@?#%\\.*a0&=;~\u00e9\u0080'), maxLength: 30 });
    const extra = fc.record({
      'sec-websocket-key': fc.constantFrom('dGhlIHNhbXBsZSBub25jZQ==', 'short', ''),
      'sec-websocket-version': fc.constantFrom('13', '8', 'x'),
      'sec-websocket-protocol': fc.constantFrom('bearer, org_1', 'bearer', ',,,', 'a b'),
      'sec-websocket-extensions': fc.constantFrom('permessage-deflate', ';;', 'x; y="'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'PRI', 'get', 'G\u00e9T', '', 'GET GET'),
        fc.constantFrom('', '/', '//', '/v1/admin/debug/live', 'http://'),
        texts,
        extra,
        fc.boolean(),
        async (method, start, rest, headers, reset) => {
          const answer = await upgrade(`${start}${rest}`, headers, { method, reset });
          expect(answer).toMatch(/^(|HTTP\/1\.1 (101|400|401|404|405|426) .*)$/);
        },
      ),
      { numRuns: 300 },
    );
    expect(await connect('?token=bad').closed).toBe(4401);
  });
});

test('frames reach a watcher with secrets masked', async () => {
  const { frames, socket } = connect('?token=org_1');
  await watched('org_1');
  tap.emit('org_1', { stage: 'processed', event_id: 'e1', payload: { properties: { copied: 'hidden-parameter' } } });
  await expect.poll(() => frames[0]?.payload).toEqual({ properties: { copied: '••••' } });
  socket.close();
});
