import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLive, type Live, type Socket } from './connection.ts';

let sockets: (Socket & { closed: boolean; sent: string[] })[];
let renewed: string[];
let live: Live;
/** Every status since the start, without repeats. */
let statuses: string[];

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  renewed = [];
  live = createLive({
    token: async () => 'token',
    renew: async (rejected) => void renewed.push(rejected),
    open() {
      const socket = {
        onmessage: null,
        onclose: null,
        closed: false,
        sent: [] as string[],
        send: (text: string) => void socket.sent.push(text),
        close: () => void (socket.closed = true),
      } as (typeof sockets)[number];
      sockets.push(socket);
      return socket;
    },
  });
  statuses = [];
  live.subscribe(() => {
    const { status } = live.get();
    if (statuses.at(-1) !== status) statuses.push(status);
  });
});
afterEach(() => {
  live.stop();
  vi.useRealTimers();
});
const newest = () => sockets.at(-1) as (typeof sockets)[number];
const say = (message: object, socket = newest()) => socket.onmessage?.({ data: JSON.stringify(message) } as MessageEvent<string>);
const end = (code: number, socket = newest()) => socket.onclose?.({ code } as CloseEvent);
const beat = () => say({ stage: 'heartbeat' });
async function connected(): Promise<void> {
  live.start();
  await vi.advanceTimersByTimeAsync(0);
  beat();
}

test('a connection is live once the service has accepted it, not when it opens', async () => {
  live.start();
  await vi.advanceTimersByTimeAsync(0);
  expect([sockets.length, live.get().status]).toEqual([1, 'connecting']);
  beat();
  expect(live.get().status).toBe('live');
});

test('a service that turns every connection away is asked less and less often and is never shown as live', async () => {
  live.start();
  let refused = 0;
  for (let tenths = 0; tenths < 600; tenths++) {
    await vi.advanceTimersByTimeAsync(100);
    if (sockets.length > refused) {
      refused = sockets.length;
      end(1013);
    }
  }
  expect(statuses).toEqual(['offline']);
  // 0.5, 1, 2, 4, 8, 15, 15 seconds apart.
  expect(sockets).toHaveLength(8);
});

test('silence means offline: heartbeats keep the connection, without them it is opened anew', async () => {
  await connected();
  for (let beats = 0; beats < 8; beats++) {
    await vi.advanceTimersByTimeAsync(15_000);
    beat();
  }
  expect(statuses).toEqual(['live']);
  await vi.advanceTimersByTimeAsync(41_000);
  expect(statuses).toEqual(['live', 'offline']);
  expect([sockets.length, sockets[0]?.closed]).toEqual([2, true]);
  beat();
  expect(live.get().status).toBe('live');
});

test('a network that the browser knows to be gone is offline at once', async () => {
  await connected();
  live.networkLost();
  expect(live.get().status).toBe('offline');
});

test('a stopped connection is not live, and its late end does not touch the next one', async () => {
  await connected();
  const [first] = sockets;
  live.stop();
  expect(live.get().status).toBe('connecting');
  live.start();
  await vi.advanceTimersByTimeAsync(0);
  beat();
  end(1006, first);
  say({ stage: 'received', event_id: 'late' }, first);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([sockets.length, live.get().status]).toEqual([2, 'live']);
});

test('an expired token is renewed before the next try', async () => {
  await connected();
  end(4408);
  await vi.advanceTimersByTimeAsync(500);
  expect([renewed, sockets.length]).toEqual([['token'], 2]);
});

test('frames reach their listeners; skipped ones are counted until that has stopped for a while', async () => {
  const seen: unknown[] = [];
  await connected();
  // A page without frames does not lack any.
  say({ stage: 'skipped', count: 5 });
  expect(live.get().skipped).toBe(0);
  live.onFrame({}, ({ event_id }) => seen.push(event_id));
  say({ stage: 'received', event_id: 'a' });
  say({ stage: 'skipped', count: 12 });
  expect([seen, live.get().skipped]).toEqual([['a'], 12]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(live.get()).toMatchObject({ status: 'live', skipped: 0 });
});

test('counts are asked for once the service has accepted the connection, and again after a reconnect', async () => {
  const heard: unknown[] = [];
  live.onCounts(({ counts }) => heard.push(counts));
  live.start();
  await vi.advanceTimersByTimeAsync(0);
  live.askCounts([{ pipeline_id: 'pl_1' }]);
  expect(newest().sent).toEqual([]);
  beat();
  say({ stage: 'counts', time: '2026-05-01T12:00:00.000Z', scope: { pipeline_id: 'pl_1' }, counts: { waiting: 1 } });
  expect(heard).toEqual([{ waiting: 1 }]);
  end(1006);
  await vi.advanceTimersByTimeAsync(500);
  beat();
  live.askCounts([]);
  const asked = '{"type":"counts","scopes":[{"pipeline_id":"pl_1"}]}';
  expect(sockets.map(({ sent }) => sent)).toEqual([[asked], [asked, '{"type":"counts","scopes":[]}']]);
});

test('frames are asked for by scope, once for all listeners, and given to those whose scope they are of', async () => {
  const seen: string[] = [];
  const listen = (name: string, scope: object) => live.onFrame(scope, ({ event_id }) => seen.push(`${name} ${event_id}`));
  const ends = [listen('shop', { pipeline_id: 'pl_1' }), listen('again', { pipeline_id: 'pl_1' })];
  await connected();
  const asked = (...scopes: object[]) => JSON.stringify({ type: 'frames', scopes });
  expect(newest().sent).toEqual([asked({ pipeline_id: 'pl_1' })]);
  for (const end of ends) end();
  listen('pages', { event: '@page' });
  await vi.advanceTimersByTimeAsync(0);
  expect(newest().sent.slice(1)).toEqual([asked({ event: '@page' })]);
  say({ stage: 'received', event_id: 'late', pipeline_id: 'pl_1', type: 'track', event: 'Order Completed' });
  say({ stage: 'received', event_id: 'page', pipeline_id: 'pl_1', type: 'page', event: null });
  say({ stage: 'received', event_id: 'screen', pipeline_id: 'pl_1', type: 'page', original_type: 'screen', event: null });
  listen('screens', { event: '@screen' });
  say({ stage: 'received', event_id: 'screen', pipeline_id: 'pl_1', type: 'page', original_type: 'screen', event: null });
  expect(seen).toEqual(['pages page', 'pages screen', 'pages screen', 'screens screen']);
});
