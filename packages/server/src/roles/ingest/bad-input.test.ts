import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { turns } from '../../runtime/turns.ts';
import { aPipeline, aSnapshot, type Harness, SECRET, startIngest } from './testing/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(
    aSnapshot([
      aPipeline({ domain_allowlist: ['shop.example'] }),
      aPipeline({ id: 'pl_server', pipeline_key: 'pk_server', type: 'server' }),
    ]),
  );
});
afterAll(() => harness.close());

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(`${harness.url}/v1/t`, { method: 'POST', headers: { authorization: 'Bearer pk_web', ...headers }, body });
const code = async (response: Response) => [response.status, ((await response.json()) as { error?: string }).error];
const HEAD = 'POST /v1/t HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer pk_web\r\n';

/** What the server says on a connection: so many answers, whole, and whatever follows them soon; or all until it closes. */
async function talk(write: (socket: Socket) => void, answers = 1): Promise<string> {
  const socket = connect(harness.port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  write(socket);
  const whole = () => said.match(/HTTP\/1\.1 \d+.*?\r\n\r\n\{.*?\}/gs)?.length ?? 0;
  await expect.poll(() => socket.destroyed || whole() >= answers).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.destroy();
  return said;
}

const REFUSED: [name: string, body: string | Uint8Array<ArrayBuffer>, status: number, error: string][] = [
  ['a depth bomb', `{"type":"track","event":"X","properties":${'['.repeat(400_000)}`, 400, 'validation_failed'],
  ['a depth bomb of objects', '{"a":'.repeat(150_000), 400, 'validation_failed'],
  ['a zip bomb', gzipSync(Buffer.alloc(200 * 1_048_576, 0x20)), 413, 'payload_too_large'],
  [
    'overlong UTF-8',
    Buffer.concat([Buffer.from('{"type":"track","event":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    400,
    'invalid_json',
  ],
  [
    'a surrogate in UTF-8',
    Buffer.concat([Buffer.from('{"type":"track","event":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    400,
    'invalid_json',
  ],
  [
    'half a character',
    Buffer.concat([Buffer.from('{"type":"track","event":"'), Buffer.from([0xe2, 0x82]), Buffer.from('"}')]),
    400,
    'invalid_json',
  ],
  ['two byte order marks', '\ufeff\ufeff{"type":"track","event":"X"}', 400, 'invalid_json'],
  ['a raw NUL', '{"type":"track","event":"a\u0000b"}', 400, 'invalid_json'],
  ['NaN', '{"type":"track","event":"X","properties":{"a":NaN}}', 400, 'invalid_json'],
  ['two values', '{"type":"track","event":"X"}{}', 400, 'invalid_json'],
  ['a comment', '{"type":"track","event":"X"/**/}', 400, 'invalid_json'],
  ['an absurd timestamp', '{"type":"track","event":"X","timestamp":"+275760-09-13T00:00:00.000Z"}', 400, 'validation_failed'],
  ['prototype pollution for a field', '{"__proto__":{"type":"track","event":"X"}}', 400, 'missing_field'],
];
test.each(REFUSED)('%s', async (_name, body, status, error) => {
  expect(await code(await post(body))).toEqual([status, error]);
});

test.each([
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
])('Content-Encoding %s is rejected with that reason', async (encoding, pack) => {
  const response = await post(pack('{"type":"track","event":"X"}'), { 'content-encoding': encoding });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    error: 'invalid_json',
    message: 'This Content-Encoding is not supported: send gzip, or JSON without one.',
  });
});

const KEPT: [name: string, json: string][] = [
  ['lone surrogates', '{"type":"track","event":"\\ud800 and \\udc00","messageId":"kept-1","properties":{"\\udfff":1}}'],
  ['an escaped NUL', '{"type":"track","event":"a\\u0000b","messageId":"kept-2"}'],
  ['duplicate keys, of which the last counts', '{"type":"track","event":"first","event":"last","messageId":"kept-3"}'],
  [
    '__proto__ and constructor',
    '{"type":"track","event":"X","messageId":"kept-4","properties":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}},"context":{"__proto__":{"polluted":true}}}',
  ],
  [
    '10,000 keys',
    JSON.stringify({
      type: 'track',
      event: 'X',
      messageId: 'kept-5',
      properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i])),
    }),
  ],
  ['astral characters and newlines', '{"type":"track","event":"\u{1f600}","messageId":"kept-6",\n\n"properties":{"\u2028":"\u{10ffff}"}}'],
  [
    'long numbers that a double holds',
    '{"type":"track","event":"X","messageId":"kept-7","properties":{"a":1.50e3,"b":9007199254740992,"c":1e21}}',
  ],
];
test.each(KEPT)('%s: stored as they came', async (_name, json) => {
  expect((await post(json)).status).toBe(200);
  const id = JSON.parse(json).messageId;
  const stored = (await harness.stored()).find((each) => each.event.event_id === id)!;
  expect(stored.body.toString()).toBe(json);
  const { event, properties } = JSON.parse(json);
  expect(stored.event.event).toBe(event);
  expect(JSON.stringify(stored.event.properties)).toBe(JSON.stringify(properties));
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
describe('a byte order mark before the JSON is ignored', () => {
  const event = (messageId: string, filler = '') => `{"type":"track",${filler}"event":"X","messageId":"${messageId}"}`;
  const find = async (id: string) => (await harness.stored()).find((each) => each.event.event_id === id);
  test('of one event, plain or packed', async () => {
    expect((await post(`\ufeff${event('mark-1')}`)).status).toBe(200);
    expect((await post(gzipSync(`\ufeff${event('mark-2')}`))).status).toBe(200);
    expect((await find('mark-1'))?.body.toString()).toBe(event('mark-1'));
    expect((await find('mark-2'))?.body.toString()).toBe(event('mark-2'));
  });
  test('of a batch, small or large, with the key in the body', async () => {
    for (const [id, filler] of [
      ['mark-3', ''],
      ['mark-4', ' '.repeat(200_000)],
    ] as const) {
      const body = `\ufeff{"writeKey":"pk_web","batch":[${event(id, filler)}]}`;
      const response = await fetch(`${harness.url}/v1/batch`, { method: 'POST', body });
      expect(await response.json()).toMatchObject({ accepted: 1, rejected: 0 });
      expect((await find(id))?.body.toString()).toBe(event(id, filler));
    }
  });
  test('the signature covers it', async () => {
    const signed = async (signedText: string) => {
      const time = String(Date.now());
      const signature = createHmac('sha256', SECRET).update(`${time}.${signedText}`).digest('hex');
      const headers = { authorization: 'Bearer pk_server', 'x-timestamp': time, 'x-signature': `sha256=${signature}` };
      return (await post(`\ufeff${event('mark-5')}`, headers)).status;
    };
    expect(await signed(event('mark-5'))).toBe(401);
    expect(await signed(`\ufeff${event('mark-5')}`)).toBe(200);
  });
});

test('the same values survive a batch', async () => {
  const events = KEPT.map(([, json], index) => json.replace(/kept-\d/, `batched-${index}`));
  const response = await fetch(`${harness.url}/v1/batch`, {
    method: 'POST',
    headers: { authorization: 'Bearer pk_web' },
    body: `{"batch":[${events.join(',')}]}`,
  });
  expect(await response.json()).toMatchObject({ accepted: KEPT.length, rejected: 0 });
  const stored = await harness.stored();
  for (const [index, json] of events.entries()) {
    const found = stored.find((each) => each.event.event_id === `batched-${index}`)!;
    expect(JSON.stringify(JSON.parse(found.body.toString()))).toBe(JSON.stringify(JSON.parse(json)));
  }
});

test.each([
  'null',
  'https://evilshop.example',
  'https://shop.example.evil.test',
  'https://shop.example@evil.test',
  'https://shop.example.',
  'https://xn--shp-hoa.example',
])('the hostile origin %s', async (origin) => {
  expect(await code(await post('{"type":"track","event":"X"}', { origin }))).toEqual([403, 'origin_not_allowed']);
});
test('an origin that is no origin is not echoed', async () => {
  const said = await talk((socket) => socket.write(`${HEAD}Origin: https://shop.example\tx\r\nContent-Length: 2\r\n\r\n{}`));
  expect(said).toMatch(/^HTTP\/1\.1 403 /);
  expect(said).toMatch(/Access-Control-Allow-Origin: null\r\n/);
});

test('a chunked body over the limit is rejected before it ends', async () => {
  const said = await talk((socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    for (let i = 0; i < 20; i++) socket.write(chunk);
  });
  expect(said).toMatch(/^HTTP\/1\.1 413 /);
  expect(said).toContain('payload_too_large');
});
test('a declared length over the limit is refused before the body', async () => {
  const said = await talk((socket) => socket.write(`${HEAD}Content-Length: 99999999999\r\n\r\n`));
  expect(said).toMatch(/^HTTP\/1\.1 413 /);
});
test('a connection works on after a refused body', async () => {
  const good = '{"type":"track","event":"X"}';
  const said = await talk((socket) => {
    socket.write(`${HEAD}Content-Length: 1100000\r\n\r\n${'x'.repeat(1_100_000)}`);
    socket.write(`${HEAD}Content-Length: ${good.length}\r\n\r\n${good}`);
  }, 2);
  expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});
test('pipelined requests are answered in order', async () => {
  const body = '{"type":"track","event":"X"}';
  const said = await talk(
    (socket) =>
      socket.write(
        `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}${HEAD}Content-Length: 1\r\n\r\n{${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`,
      ),
    3,
  );
  expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 200']);
});
test('input cannot split response headers', async () => {
  const said = await talk((socket) => socket.write(`${HEAD}Origin: https://a.test\r\n X: y\r\nContent-Length: 2\r\n\r\n{}`));
  expect(said).toMatch(/^HTTP\/1\.1 (400|403) /);
  expect(said).not.toMatch(/\r\nX:/);
});
test('incomplete requests do not affect others', async () => {
  const sockets = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const socket = connect(harness.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(index % 2 ? `${HEAD}X-Slow: ` : `${HEAD}Content-Length: 1000\r\n\r\n{"type":`);
      return socket;
    }),
  );
  const answers = await Promise.all(Array.from({ length: 50 }, () => post('{"type":"track","event":"X"}')));
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  for (const socket of sockets) socket.destroy();
});
test('a client that leaves in the middle holds nothing', async () => {
  const before = (await harness.stored()).length;
  for (let i = 0; i < 20; i++) {
    const socket = connect(harness.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${HEAD}Content-Length: 1000\r\n\r\n{"type":"track"`);
    socket.destroy();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await harness.stored()).length).toBe(before);
});

describe('numbers that a double cannot hold are rejected by path', () => {
  test.each([
    ['properties.a', '{"a":1e400}'],
    ['properties.id', '{"id":9007199254740993}'],
    ['properties.list[1].x', '{"list":[1,{"x":0.1234567890123456789}]}'],
  ])('%s', async (path, properties) => {
    const response = await post(`{"type":"track","event":"X","properties":${properties}}`);
    expect(response.status).toBe(400);
    const body = (await response.json()) as { error: string; message: string };
    expect(body).toMatchObject({ error: 'validation_failed' });
    expect(body.message).toMatch(`${path} is a number that cannot be kept exactly`);
  });
  test('inside a batch only that event is', async () => {
    const batch = ['1', '9007199254740993', '2'].map((n) => `{"type":"track","event":"X","properties":{"n":${n}}}`);
    const response = await postBatch(`{"batch":[${batch.join(',')}]}`);
    expect(await response.json()).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ index: 1, error: 'validation_failed', message: expect.stringContaining('properties.n') }],
    });
  });
  test("in the batch's own context the whole batch is", async () => {
    const response = await postBatch('{"batch":[{"type":"track","event":"X"}],"context":{"id":9007199254740993}}');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining('context.id') });
  });
});

describe('a large batch is parsed event by event', () => {
  const filler = 'x'.repeat(60_000);
  const event = (rest: string) => `{"type":"track","event":"X","properties":{"filler":"${filler}"${rest}}}`;
  test('good events are stored, bad ones named', async () => {
    const crowd = `,"a":[${Array(60_000).fill('{}').join(',')}]`;
    const response = await postBatch(`{"batch":[${event('')},${event(',"n":1e400')} , ${event(crowd)},${event('')}],"sentAt":"x"}`);
    expect(await response.json()).toMatchObject({
      accepted: 2,
      rejected: 2,
      errors: [
        { index: 1, error: 'validation_failed' },
        { index: 2, error: 'payload_too_large' },
      ],
    });
  });
  test('an event above the size limit is named by its messageId', async () => {
    const large = `{"type":"track","event":"X","messageId":"large-1","properties":{"filler":"${'x'.repeat(1_048_576)}"}}`;
    const response = await postBatch(`{"batch":[${large},${event('')}]}`);
    expect(await response.json()).toMatchObject({
      accepted: 1,
      errors: [{ index: 0, messageId: 'large-1', error: 'payload_too_large' }],
    });
  });
  test.each([
    ['no comma', `{"batch":[${event('')} ${event('')},${event('')}]}`],
    ['two commas', `{"batch":[${event('')},,${event('')},${event('')}]}`],
    ['a broken event', `{"batch":[${event('')},${event(',x')},${event('')}]}`],
    ['text after the list', `{"batch":[${event('')},${event('')},${event('')}] x}`],
  ])('%s is no JSON', async (_name, body) => {
    const response = await postBatch(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_json' });
  });
  test('a large context of many small events is stored in turns, a small one at once', async () => {
    const bulk = vi.spyOn(turns, 'bulk');
    onTestFinished(() => bulk.mockRestore());
    const batch = Array(100).fill('{"type":"track","event":"X"}').join(',');
    const turnsFor = async (context: string) => {
      bulk.mockClear();
      const response = await postBatch(`{"batch":[${batch}],"context":{"filler":"${context}"}}`);
      expect(await response.json()).toMatchObject({ accepted: 100 });
      return bulk.mock.calls.length;
    };
    // Rejected events of other tests may be written meanwhile, with turns of their own.
    expect(await turnsFor('x'.repeat(30_000))).toBeGreaterThanOrEqual(100);
    expect(await turnsFor('x')).toBeLessThan(100);
  });
  test('hostile structure is refused without being built', async () => {
    const response = await post(`{"type":"track","event":"X","properties":{"a":[${Array(60_000).fill('[]').join(',')}]}}`);
    expect(response.status).toBe(413);
  });
});

function postBatch(body: string): Promise<Response> {
  return fetch(`${harness.url}/v1/batch`, { method: 'POST', headers: { authorization: 'Bearer pk_web' }, body });
}
