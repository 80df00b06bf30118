import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { aPipeline, aSnapshot, type Harness, startIngest, withAppend } from '../testing/harness.ts';
import { Client, type RawAnswer, servedClient } from '../testing/raw-client.ts';

/** The real log; appends wait for `release` once `hold` was called. */
class HeldLog {
  #waiting: (() => void)[] | undefined;
  appended = 0;
  hold(): void {
    this.#waiting = [];
  }
  release(): void {
    for (const go of this.#waiting ?? []) go();
    this.#waiting = undefined;
  }
  over = withAppend(async (append) => {
    this.appended++;
    const waiting = this.#waiting;
    if (waiting !== undefined) await new Promise<void>((resolve) => waiting.push(resolve));
    return append();
  });
}
let harness: Harness;
let held: HeldLog;
async function start(): Promise<void> {
  held = new HeldLog();
  harness = await startIngest(aSnapshot([aPipeline()]), { log: held.over });
}
afterEach(() => harness.close());

const eventOf = (messageId: string) => `{"type":"track","event":"X","anonymousId":"visitor","messageId":"${messageId}"}`;
const request = (body: string, headers = '', line = 'POST /v1/t HTTP/1.1') =>
  `${line}\r\nHost: x\r\nAuthorization: Bearer pk_web\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
const served = () => servedClient(harness.port, request(eventOf('first')));
const storedIds = async () => (await harness.stored()).map(({ envelope }) => envelope.event_id).toSorted();
const undated = ({ head }: RawAnswer) => head.map((line) => line.replace(/^Date: .*/, 'Date')).toSorted();

test.each([
  ['no origin', ''],
  ['an origin whose visitor is known', 'Origin: https://shop.example\r\nCookie: _df_id=visitor\r\n'],
  ['an origin that is none', 'Origin: https://a.example b\r\nCookie: _df_id=visitor\r\n'],
])("a direct answer says what Node's says: %s", async (_name, headers) => {
  await start();
  const client = await served();
  const before = harness.responses();
  const asked = Date.now();
  client.socket.write(request(eventOf('direct'), headers));
  const direct = await client.answer();
  expect(harness.responses(), 'Node calls us where it did').toBe(before);
  const fresh = new Client(connect(harness.port, '127.0.0.1'));
  fresh.socket.write(request(eventOf('by-node'), headers));
  const other = await fresh.answer();
  expect(harness.responses()).toBe(before + 1);
  expect([direct.status, direct.body]).toEqual([200, '{"success":true}']);
  expect([other.status, other.body]).toEqual([direct.status, direct.body]);
  expect(undated(direct)).toEqual(undated(other));
  expect(Date.parse(direct.head.find((line) => line.startsWith('Date: '))!.slice(6))).toBeGreaterThan(asked - 2_000);
  expect(await storedIds()).toEqual(['by-node', 'direct', 'first']);
  for (const { socket } of [client, fresh]) socket.destroy();
});

test.each<[name: string, bytes: string, statuses: number[]]>([
  ['a cookie to set', request(eventOf('a'), 'Origin: https://shop.example\r\n'), [200]],
  ['an event that is wrong', request('{"type":"track"}'), [400]],
  ['no JSON', request('{'), [400]],
  ['a body over the limit', request('', 'X-Y: z\r\n').replace('Content-Length: 0', 'Content-Length: 99999999'), [413]],
  ['an unknown key', request(eventOf('a')).replace('pk_web', 'pk_nobody'), [401]],
  ['a question before the body', request(eventOf('a'), 'Expect: 100-continue\r\n'), [100, 200]],
  ['a batch', request(`{"batch":[${eventOf('a')}]}`, '', 'POST /v1/batch HTTP/1.1'), [200]],
  ['an end of the connection', request(eventOf('a'), 'Connection: close\r\n'), [200]],
])('whatever is out of the ordinary is answered by Node: %s', async (_name, bytes, statuses) => {
  await start();
  const client = await served();
  const before = harness.responses();
  client.socket.write(bytes);
  for (const status of statuses) expect((await client.answer()).status).toBe(status);
  expect(harness.responses()).toBe(before + 1);
  client.socket.destroy();
});

test('a connection continues after a response by Node', async () => {
  await start();
  const client = await served();
  for (const [body, status] of [
    ['{', 400],
    [eventOf('a'), 200],
    ['{"type":"track"}', 400],
    [eventOf('b'), 200],
  ] as const) {
    client.socket.write(request(body));
    expect((await client.answer()).status).toBe(status);
  }
  expect(harness.responses()).toBe(3);
  expect(await storedIds()).toEqual(['a', 'b', 'first']);
  client.socket.destroy();
});

test('requests that did not wait for each other are answered in their order', async () => {
  await start();
  const client = await served();
  held.hold();
  client.socket.write(
    request(eventOf('a')) + request('{') + request(eventOf('b')) + request('', '', 'OPTIONS /v1/t HTTP/1.1') + request(eventOf('c')),
  );
  await expect.poll(() => held.appended).toBe(4);
  held.release();
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) statuses.push((await client.answer()).status);
  expect(statuses).toEqual([200, 400, 200, 204, 200]);
  expect(await storedIds()).toEqual(['a', 'b', 'c', 'first']);
  client.socket.destroy();
});

test('a body may come in pieces', async () => {
  await start();
  const client = await served();
  const bytes = request(eventOf('in-pieces'));
  for (let at = 0; at < bytes.length; at += 40) {
    client.socket.write(bytes.slice(at, at + 40));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect((await client.answer()).status).toBe(200);
  expect(harness.responses()).toBe(1);
  expect(await storedIds()).toEqual(['first', 'in-pieces']);
  client.socket.destroy();
});

test.each([
  ['before its body is there', (bytes: string) => bytes.slice(0, -10), false],
  ['before its answer', (bytes: string) => bytes, true],
])('a client that disconnects %s does not delay the stop', async (_name, sent, stored) => {
  await start();
  const client = await served();
  held.hold();
  client.socket.write(sent(request(eventOf('gone'))));
  if (stored) await expect.poll(() => held.appended).toBe(2);
  else await new Promise((resolve) => setTimeout(resolve, 50));
  client.socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  held.release();
  // Longer than the test's timeout: a request that is still counted would fail the test.
  await harness.ingest.stop(3_600_000);
  await expect.poll(storedIds).toEqual(stored ? ['first', 'gone'] : ['first']);
});

test('a stopping service answers requests that wait for the log, then closes their connections', async () => {
  await start();
  const client = await served();
  held.hold();
  client.socket.write(request(eventOf('last')));
  await expect.poll(() => held.appended).toBe(2);
  harness.ingest.drain();
  harness.closeIdle();
  held.release();
  const answer = await client.answer();
  expect(answer.status).toBe(200);
  expect(answer.head).toContain('Connection: close');
  await expect.poll(() => client.closed).toBe(true);
  expect(await storedIds()).toEqual(['first', 'last']);
});
