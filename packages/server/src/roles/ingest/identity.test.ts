import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browser, type Send, startSending, track } from './testing/events.ts';
import { type Harness, SECRET } from './testing/harness.ts';

let harness: Harness;
let send: Send;
beforeAll(async () => {
  ({ harness, send } = await startSending());
});
afterAll(() => harness.close());
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('anonymous id', () => {
  test.each([
    ['from the body', { ...track, anonymousId: 'a1', context: { anonymousId: 'a2' } }, { ...browser, cookie: '_df_id=a3' }, 'a1'],
    ['from the context', { ...track, context: { anonymousId: 'a2' } }, { ...browser, cookie: '_df_id=a3' }, 'a2'],
    ['from the cookie', track, { ...browser, cookie: 'x_df_id=no; _df_id=a%203; b=c' }, 'a 3'],
    ['a cookie that cannot be decoded is none', track, { ...browser, cookie: '_df_id=%E0%A4%A' }, UUID],
    ['derived for browsers, even with a userId', { ...track, userId: 'u' }, browser, UUID],
    ['derived without a userId', track, {}, UUID],
    ['none for servers with a userId', { ...track, userId: 'u' }, {}, undefined],
    ["an alias's previous id", { type: 'alias', userId: 'u', previousId: 'old' }, {}, 'old'],
  ])('%s', async (_name, body, headers, id) => {
    const { stored } = await send(body.type === 'alias' ? '/v1/alias' : '/v1/t', body, headers);
    if (id instanceof RegExp) expect(stored.event.anonymous_id).toMatch(id);
    else expect(stored.event.anonymous_id).toBe(id);
  });
  test('is the same for the same pipeline and messageId, another for another pipeline', async () => {
    const one = await send('/v1/t', { ...track, messageId: 'derive-me' }, browser);
    const other = await fetch(`${harness.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: 'Bearer pk_gate', ...browser },
      body: JSON.stringify({ ...track, messageId: 'derive-me' }),
    });
    expect(other.status).toBe(200);
    const ids = (await harness.stored()).filter((each) => each.event.event_id === 'derive-me').map((each) => each.event.anonymous_id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).toContain(one.stored.event.anonymous_id);
  });
});

describe('address and user agent', () => {
  test.each([
    ['a browser path', '/v1/t', {}, 'pk_web', true],
    ['an Origin on a server path', '/v1/events', { origin: 'https://shop.example' }, 'pk_web', true],
    ['a server path', '/v1/events', {}, 'pk_web', false],
    ['a long alias', '/v1/track', {}, 'pk_web', false],
    ['a server pipeline', '/v1/t', { origin: 'https://shop.example' }, 'pk_server', false],
  ])('%s', async (_name, path, headers, key, taken) => {
    const { stored } = await send(path, track, { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'UA/1', ...headers }, key);
    const { ip, user_agent } = stored.envelope;
    expect([ip, user_agent]).toEqual(taken ? ['203.0.113.9', 'UA/1'] : [undefined, undefined]);
    expect(stored.envelope.source).toBe(taken ? 'browser' : 'server');
  });
});

describe('event id and duplicates', () => {
  test('a repeated messageId is answered 200, stored once and counted', async () => {
    for (let i = 0; i < 3; i++) expect((await send('/v1/t', { ...track, messageId: 'again' })).times).toBe(1);
    await harness.ingest.stop();
    const counts = (await harness.outcomes()).filter((outcome) => outcome.kind === 'ingest_counts');
    expect(counts.reduce((sum, each) => sum + each.duplicates, 0)).toBe(2);
    expect(counts.every((each) => each.received === 0)).toBe(true);
  });
  test('one messageId on two pipelines is two events', async () => {
    await send('/v1/t', { ...track, messageId: 'shared' });
    expect((await send('/v1/t', { ...track, messageId: 'shared' }, {}, 'pk_server')).times).toBe(2);
  });
  test('a batch with a repeat inside counts both as accepted', async () => {
    const { response, times } = await send('/v1/batch', {
      messageId: 'twice',
      batch: [
        { ...track, messageId: 'twice' },
        { ...track, messageId: 'twice' },
      ],
    });
    expect(await response.json()).toEqual({ success: true, accepted: 2, rejected: 0, errors: [] });
    expect(times).toBe(1);
  });
  test('a replayed signed request without messageId is a duplicate', async () => {
    const body = JSON.stringify({
      batch: [
        { type: 'track', event: 'Signed', userId: 'u' },
        { type: 'track', event: 'Signed', userId: 'u' },
      ],
    });
    const timestamp = String(Date.now());
    const signature = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex');
    for (const spelled of [signature, signature, signature.toUpperCase()]) {
      const response = await fetch(`${harness.url}/v1/batch`, {
        method: 'POST',
        headers: { authorization: 'Bearer pk_server', 'x-timestamp': timestamp, 'x-signature': `sha256=${spelled}` },
        body,
      });
      expect(response.status).toBe(200);
    }
    expect((await harness.stored()).filter((each) => each.event.event === 'Signed')).toHaveLength(2);
  });
});

test('a batch names its bad events and keeps the good ones', async () => {
  const { response } = await send('/v1/batch', {
    messageId: 'b1',
    context: { library: { name: 'lib' }, challenge_token: 'secret' },
    sentAt: new Date().toISOString(),
    batch: [
      { type: 'track', event: 'Good', messageId: 'b1', userId: 'u' },
      { type: 'track', messageId: 'b2' },
      { type: 'screen', name: 'S', messageId: 'b3', userId: 'u' },
      { type: 'alias', userId: 'u', previousId: 'p', messageId: 'b4' },
      'rubbish',
    ],
  });
  expect(await response.json()).toEqual({
    success: true,
    accepted: 3,
    rejected: 2,
    errors: [
      { index: 1, messageId: 'b2', error: 'missing_field', message: 'event is required.' },
      { index: 4, messageId: null, error: 'validation_failed', message: 'The event must be a JSON object.' },
    ],
  });
  const events = (await harness.stored())
    .filter(({ event: { event_id } }) => /^b\d$/.test(event_id))
    .map(({ event }) => [event.event_id, event.type, event.context]);
  expect(events.sort()).toEqual([
    ['b1', 'track', { library: { name: 'lib' } }],
    ['b3', 'page', { library: { name: 'lib' } }],
    ['b4', 'identify', { library: { name: 'lib' } }],
  ]);
});

test('a pixel takes its fields from the query', async () => {
  const query = new URLSearchParams({
    writeKey: 'pk_web',
    event: 'Mail Opened',
    userId: 'u',
    messageId: 'px',
    'properties.campaign': 'may',
    properties: '{"n":1}',
  });
  const response = await fetch(`${harness.url}/v1/pixel/t?${query}`, { headers: { referer: 'https://mail.example/x' } });
  expect(response.headers.get('content-type')).toBe('image/gif');
  expect(
    Buffer.from(await response.arrayBuffer())
      .subarray(0, 6)
      .toString(),
  ).toBe('GIF89a');
  const stored = (await harness.stored()).find((each) => each.event.event_id === 'px')!;
  expect(stored.event).toMatchObject({
    type: 'track',
    event: 'Mail Opened',
    user_id: 'u',
    properties: { campaign: 'may', n: 1 },
    context: { page: { url: 'https://mail.example/x' } },
  });
  expect(stored.event.anonymous_id).toMatch(UUID);
});

test("a pixel's times may have an unencoded + before the zone", async () => {
  const times = 'timestamp=2026-05-01T12:00:00+02:00&sentAt=2026-05-01T12:00:00+02:00';
  const response = await fetch(`${harness.url}/v1/pixel/t?writeKey=pk_web&event=E&messageId=px-zone&${times}`);
  expect(response.status).toBe(200);
  const stored = (await harness.stored()).find((each) => each.event.event_id === 'px-zone')!;
  expect(stored.body.toString()).toContain('"sentAt":"2026-05-01T12:00:00+02:00"');
});

test('an empty Referer names no page', async () => {
  await fetch(`${harness.url}/v1/pixel/t?writeKey=pk_web&event=E&messageId=px-nowhere`, { headers: { referer: '' } });
  const stored = (await harness.stored()).find((each) => each.event.event_id === 'px-nowhere')!;
  expect(stored.event.context).not.toHaveProperty('page');
});

test('frames show the received event without keys, tokens and data removed by privacy rules', async () => {
  const properties = { hidden: 'something private', shown: 1 };
  await send('/v1/t', { ...track, properties, messageId: 'framed', writeKey: 'pk_web', context: { challenge_token: 't', a: 1 } });
  const frame = harness.frames.find((each) => each.event_id === 'framed')!;
  expect(frame).toMatchObject({ stage: 'received', pipeline_id: 'pl_web', type: 'track', event: 'X' });
  expect(JSON.stringify(frame)).not.toMatch(/pk_web|challenge|private/);
  expect(frame.payload).toMatchObject({ properties: { shown: 1 }, context: { a: 1 } });
});
test('the bytes are stored as they came', async () => {
  const raw = '{ "type":"track",\n "event":"Raw", "n": 1.50, "big": 12345678901234560000, "messageId":"raw" }';
  await fetch(`${harness.url}/v1/t`, { method: 'POST', headers: { authorization: 'Bearer pk_web' }, body: raw });
  expect((await harness.stored()).find((each) => each.event.event_id === 'raw')!.body.toString()).toBe(raw);
});
test('a challenge token is not stored', async () => {
  const event = { ...track, messageId: 'with-token', context: { challenge_token: 'secret-token', page: { url: 'https://a.example/' } } };
  await send('/v1/t', event);
  await send('/v1/batch', { batch: [{ ...event, messageId: 'with-token-2' }], context: { challenge_token: 'secret-token' } });
  const stored = (await harness.stored()).filter((each) => each.event.event_id.startsWith('with-token'));
  expect(stored).toHaveLength(2);
  for (const { body } of stored) {
    expect(body.toString()).not.toContain('secret-token');
    expect(JSON.parse(body.toString())).toMatchObject({ event: track.event, context: { page: { url: 'https://a.example/' } } });
  }
});
