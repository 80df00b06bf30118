import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CAPACITY_LIMITS } from '../capacity.ts';
import { aPipeline, aSnapshot, type Harness, startIngest } from '../testing/harness.ts';
import { Client, servedClient } from '../testing/raw-client.ts';

/** No room for anything while `appendingRequests` is 0. */
const limits = { ...CAPACITY_LIMITS };
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(aSnapshot([aPipeline()]), { limits });
});
afterAll(() => harness.close());
beforeEach(() => {
  limits.appendingRequests = CAPACITY_LIMITS.appendingRequests;
});

const BODY = '{"type":"track","event":"X"}';
const request = (headers = '', body = BODY, line = 'POST /v1/t HTTP/1.1') =>
  `${line}\r\nHost: x\r\nAuthorization: Bearer pk_web\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

const served = () => servedClient(harness.port, request());
/** A connection that has had an answer, after which there is room for nothing. */
async function overloaded(): Promise<Client> {
  const client = await served();
  limits.appendingRequests = 0;
  return client;
}
/** Node dates its answers. */
const isQuick = ({ head }: { head: string[] }) => !head.some((line) => line.startsWith('Date: '));

test.each([
  ['no origin', ''],
  ['an origin', 'Origin: https://shop.example\r\n'],
  ['an origin in another case', 'ORIGIN: https://shop.example\r\n'],
  ['an origin that is none', 'Origin: https://a.example b\r\n'],
])('a quick refusal says what the other one says: %s', async (_name, headers) => {
  const client = await overloaded();
  client.socket.write(request(headers));
  const quick = await client.answer();
  expect(isQuick(quick), 'Node calls us where it did').toBe(true);
  // The first request of a connection goes Node's way.
  const socket = connect(harness.port, '127.0.0.1');
  socket.write(request(headers));
  const other = await new Client(socket).answer();
  expect(isQuick(other)).toBe(false);
  expect([quick.status, JSON.parse(quick.body)]).toEqual([503, { error: 'overloaded', message: expect.stringMatching(/\w/) }]);
  expect(quick.body).toBe(other.body);
  expect(quick.head.toSorted()).toEqual(other.head.filter((line) => !line.startsWith('Date: ')).toSorted());
  expect(quick.head).toContain('Retry-After: 1');
  socket.destroy();
  client.socket.destroy();
});
test.each<[name: string, bytes: string, statuses: number[]]>([
  ['an end of the connection', request('Connection: close\r\n'), [503]],
  ['HTTP/1.0', request('', BODY, 'POST /v1/t HTTP/1.0'), [503]],
  ['a question before the body', request('Expect: 100-continue\r\n'), [100, 503]],
  ['no host', `POST /v1/t HTTP/1.1\r\nContent-Length: 0\r\n\r\n`, [400]],
  ['another method', request('', BODY, 'PUT /v1/t HTTP/1.1'), [405]],
  ['a preflight', request('', '', 'OPTIONS /v1/t HTTP/1.1'), [204]],
  ['an inbound webhook', request('', BODY, 'POST /v1/webhook?source=x HTTP/1.1'), [503]],
  ['another path', request('', BODY, 'POST /elsewhere HTTP/1.1'), [404]],
])("what is out of the ordinary goes Node's way: %s", async (_name, bytes, statuses) => {
  const client = await overloaded();
  client.socket.write(bytes);
  for (const status of statuses) {
    const answer = await client.answer();
    expect(answer.status).toBe(status);
    if (status !== 100 && status !== 400) expect(isQuick(answer)).toBe(false);
  }
  client.socket.destroy();
});
test('responses keep the order of the requests', async () => {
  const client = await overloaded();
  client.socket.write(request() + request() + request('', '', 'OPTIONS /v1/t HTTP/1.1') + request() + request());
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) statuses.push((await client.answer()).status);
  expect(statuses).toEqual([503, 503, 204, 503, 503]);
  client.socket.destroy();
});
test('a connection can be reused after a quick rejection', async () => {
  const client = await overloaded();
  const bytes = request();
  const inside = bytes.length - 10;
  client.socket.write(bytes.slice(0, inside));
  expect((await client.answer()).status, 'before its body is there').toBe(503);
  limits.appendingRequests = CAPACITY_LIMITS.appendingRequests;
  client.socket.write(bytes.slice(inside));
  client.socket.write(request());
  expect((await client.answer()).status).toBe(200);
  expect(client.socket.destroyed).toBe(false);
  client.socket.destroy();
});
test('a refused body may not go on for ever', async () => {
  const client = await overloaded();
  client.socket.write(request('', '', 'POST /v1/t HTTP/1.1').replace('Content-Length: 0', `Content-Length: ${64 * 1_048_576}`));
  const answer = await client.answer();
  expect([answer.status, isQuick(answer)]).toEqual([503, true]);
  const piece = Buffer.alloc(1_048_576);
  for (let i = 0; i < 32 && !client.closed; i++) await new Promise((resolve) => client.socket.write(piece, resolve));
  await expect.poll(() => client.closed).toBe(true);
});
test('many connections at once are all answered, time and again', async () => {
  const clients = await Promise.all(Array.from({ length: 200 }, served));
  limits.appendingRequests = 0;
  for (let round = 0; round < 5; round++) {
    for (const { socket } of clients) socket.write(request());
    for (const client of clients) expect((await client.answer()).status).toBe(503);
  }
  for (const { socket } of clients) socket.destroy();
});
test('quick refusals are counted', async () => {
  let overloads = 0;
  const counted = await startIngest(aSnapshot([aPipeline()]), {
    limits,
    onCounts: ({ rejected }) => {
      overloads += rejected.overloaded ?? 0;
    },
  });
  const client = await servedClient(counted.port, request());
  limits.appendingRequests = 0;
  for (let i = 0; i < 3; i++) {
    client.socket.write(request());
    expect(isQuick(await client.answer())).toBe(true);
  }
  client.socket.destroy();
  await expect.poll(() => overloads).toBe(3);
  await counted.close();
});
test('a service that stops ends the connection with the refusal', async () => {
  const client = await overloaded();
  harness.ingest.drain();
  client.socket.write(request());
  const answer = await client.answer();
  expect([answer.status, isQuick(answer)]).toEqual([503, false]);
  expect(answer.head).toContain('Connection: close');
  await expect.poll(() => client.closed).toBe(true);
});
