import type { DeadLetter, Outcome, RejectedEvent } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { replayRejected } from '../../intake/replay-rejected.ts';
import { aPipeline, aSnapshot, type Harness, startIngest } from './testing/harness.ts';

const snapshot = aSnapshot([
  aPipeline(),
  aPipeline({ id: 'pl_token', pipeline_key: 'pk_token', challenge_token_required: true }),
  aPipeline({ id: 'pl_flood', pipeline_key: 'pk_flood' }),
  aPipeline({ id: 'pl_server', pipeline_key: 'pk_server', type: 'server' }),
]);
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(snapshot, { watched: true });
});
beforeEach(() => void harness.frames.splice(0));
afterAll(() => harness.close());

interface Call {
  path: string;
  body: string;
  key?: string;
  headers?: Record<string, string>;
}
const send = ({ path, body, key = 'pk_web', headers = {} }: Call) =>
  fetch(harness.url + path, { method: 'POST', headers: { authorization: `Bearer ${key}`, ...headers }, body });
async function lettersOf(pipelineId: string): Promise<{ letters: DeadLetter[]; dropped: number }> {
  await harness.flushRejected();
  const isRejected = (outcome: Outcome) => outcome.kind === 'rejected_events';
  const outcomes = (await harness.outcomes()).filter(isRejected).filter((each) => each.pipeline_id === pipelineId);
  return { letters: outcomes.flatMap(({ letters }) => letters), dropped: outcomes.reduce((sum, { dropped }) => sum + dropped, 0) };
}
const found = async (eventId: string, pipelineId = 'pl_web') =>
  (await lettersOf(pipelineId)).letters.find(({ event_id }) => event_id === eventId) as (DeadLetter & { event: RejectedEvent }) | undefined;
const json = JSON.stringify;

const KINDS: [name: string, call: Call, id: string, reason: string, message: string][] = [
  [
    'a missing event name',
    { path: '/v1/t', body: json({ type: 'track', messageId: 'r-1' }) },
    'r-1',
    'missing_field',
    'event is required.',
  ],
  [
    'a wrong type',
    { path: '/v1/t', body: json({ type: 'page', messageId: 'r-2' }) },
    'r-2',
    'validation_failed',
    'type must be track here.',
  ],
  [
    'a wrong timestamp',
    { path: '/v1/track', body: json({ event: 'X', timestamp: 'soon', messageId: 'r-3' }) },
    'r-3',
    'validation_failed',
    'timestamp must be an ISO 8601 time from 1970 to 9999.',
  ],
  [
    'a body that was cut',
    { path: '/v1/t', body: '{"type":"track","messageId":"r-4","event":"X' },
    'r-4',
    'invalid_json',
    'The body is not valid JSON.',
  ],
  [
    'a body that nests too deep',
    { path: '/v1/t', body: `{"messageId":"r-5","a":${'['.repeat(30_000)}${']'.repeat(30_000)}}` },
    'r-5',
    'validation_failed',
    'The body nests deeper than 64 levels.',
  ],
  [
    'a messageId that is a number',
    { path: '/v1/t', body: json({ type: 'track', event: 'X', messageId: 1234 }) },
    '1234',
    'validation_failed',
    'messageId must be 1 to 255 printable ASCII characters.',
  ],
  [
    'one event of a batch that is answered 200',
    {
      path: '/v1/batch',
      body: json({
        batch: [
          { type: 'track', event: 'Good', userId: 'u', messageId: 'good-1' },
          { type: 'track', userId: 'u', messageId: 'r-7' },
        ],
      }),
    },
    'r-7',
    'missing_field',
    'event is required.',
  ],
  [
    'the only event of a batch',
    { path: '/v1/batch', body: json({ batch: [{ type: 'identify', traits: {}, messageId: 'r-8' }] }) },
    'r-8',
    'missing_field',
    'userId or anonymousId is required.',
  ],
  [
    'an event of a batch without its challenge token',
    {
      path: '/v1/batch',
      key: 'pk_token',
      body: json({
        batch: [
          { type: 'track', event: 'A', messageId: 'good-2', context: { challenge_token: 'token-of-pl_token' } },
          { type: 'track', event: 'B', messageId: 'r-9' },
        ],
      }),
    },
    'r-9',
    'invalid_challenge_token',
    'The challenge token is missing, wrong or expired.',
  ],
  [
    'a single event without its challenge token',
    { path: '/v1/t', key: 'pk_token', body: json({ type: 'track', event: 'X', messageId: 'r-10' }) },
    'r-10',
    'invalid_challenge_token',
    'The challenge token is missing, wrong or expired.',
  ],
  [
    'an event that is larger than the limit',
    { path: '/v1/t', body: json({ type: 'track', event: 'X', messageId: 'r-11', text: 'x'.repeat(1_048_576) }) },
    'r-11',
    'payload_too_large',
    'The payload is larger than the limit: split it.',
  ],
];
test.each(KINDS)('%s is kept with its reason, and shown live with its id', async (_name, call, id, reason, message) => {
  await send(call);
  const pipelineId = call.key === 'pk_token' ? 'pl_token' : 'pl_web';
  expect(await found(id, pipelineId)).toMatchObject({ stage: 'ingest', reason, pipeline_id: pipelineId, event: { message } });
  expect(harness.frames.filter(({ stage }) => stage === 'rejected')).toMatchObject([{ event_id: id, reason, pipeline_id: pipelineId }]);
});

test.each<[string, object, object]>([
  ['/v1/t', { type: 'track', event: 'Order Completed', properties: [] }, { type: 'track', event: 'Order Completed' }],
  ['/v1/t', { type: 'track' }, { type: 'track', event: undefined }],
  ['/v1/t', { type: 'nonsense', event: 5 }, { type: undefined, event: undefined }],
  ['/v1/track', { event: 'x'.repeat(300), messageId: '' }, { type: 'track', event: 'x'.repeat(255) }],
  ['/v1/screen', { name: 'Cart', context: [] }, { type: 'page', original_type: 'screen' }],
  ['/v1/batch', { batch: [{ type: 'track', event: 'Refund', context: 5 }] }, { type: 'track', event: 'Refund' }],
])('the frame of an event rejected by %s names its type and event: %j', async (path, body, names) => {
  await send({ path, body: json(body) });
  const [frame] = harness.frames.filter(({ stage }) => stage === 'rejected');
  expect(frame).toMatchObject({ stage: 'rejected' });
  expect({ type: frame?.type, event: frame?.event, original_type: frame?.original_type }).toEqual({
    original_type: undefined,
    event: undefined,
    ...names,
  });
});

test.each<[string, Call, object]>([
  ['not JSON', { path: '/v1/t', body: '{"type":"tr' }, { type: 'track' }],
  ['a list', { path: '/v1/p', body: '[]' }, { type: 'page' }],
  ['too large', { path: '/v1/screen', body: json({ text: 'x'.repeat(1_048_576) }) }, { type: 'page', original_type: 'screen' }],
  ['null', { path: '/api/s/alias', body: 'null' }, { type: 'identify', original_type: 'alias' }],
  ['no object, on a path for any type', { path: '/v1/events', body: '5' }, {}],
])('the frame of a request that was rejected as a whole names the type of its path: %s', async (_name, call, types) => {
  await send(call);
  const [frame] = harness.frames.filter(({ stage }) => stage === 'rejected');
  expect({ type: frame?.type, original_type: frame?.original_type }).toEqual({ type: undefined, original_type: undefined, ...types });
});

test.each<[string, Call]>([
  ['an unknown key', { path: '/v1/t', key: 'pk_nobody', body: json({ messageId: 'n-1' }) }],
  ['a body without a key that is not JSON', { path: '/v1/t', key: '', body: '{"messageId":"n-2"' }],
  [
    'a body that is too large and unsigned',
    { path: '/v1/t', key: 'pk_server', body: json({ type: 'track', event: 'X', messageId: 'n-3', text: 'x'.repeat(1_048_576) }) },
  ],
])('%s is not kept: it is of no known pipeline or sender', async (_name, call) => {
  expect((await send(call)).ok).toBe(false);
  for (const id of ['n-1', 'n-2', 'n-3'])
    for (const pipeline of ['pl_web', 'pl_token', 'pl_server']) expect(await found(id, pipeline)).toBeUndefined();
});

test('keys and tokens are not kept, the visitor is', async () => {
  const body = { type: 'track', writeKey: 'pk_web', messageId: 'secret-1', context: { challenge_token: 't', locale: 'de' } };
  await send({ path: '/v1/t', body: json(body), headers: { origin: 'https://shop.example', 'sec-gpc': '1', 'user-agent': 'UA/1' } });
  const letter = await found('secret-1');
  expect(letter?.event.raw).toEqual({ type: 'track', messageId: 'secret-1', context: { locale: 'de' } });
  expect(letter?.event.request).toEqual({ source: 'browser', ip: '127.0.0.1', user_agent: 'UA/1', gpc: true });
});

const WITH_SECRETS = { type: 'track', event: 'E', writeKey: 'pk_web', context: { challenge_token: 'ct_in_event', locale: 'de' } };
const LARGE_CONTEXT = { challenge_token: 'ct_of_batch', text: 'x'.repeat(33_000) };
test.each([
  ['a context that is too large', json({ writeKey: 'pk_web', context: LARGE_CONTEXT, batch: [WITH_SECRETS] }), 413],
  ['too many events', json({ writeKey: 'pk_web', batch: Array(501).fill(WITH_SECRETS) }), 413],
  ['a number that cannot be kept', json({ batch: [WITH_SECRETS] }).replace('{', '{"rate":1e400,'), 400],
  ['a body that was cut', json({ batch: [WITH_SECRETS, WITH_SECRETS] }).slice(0, -100), 400],
  ['an object in place of its list', json({ batch: WITH_SECRETS }), 400],
  ['a body that nests too deep', json({ batch: [WITH_SECRETS] }).replace('{', `{"deep":${'['.repeat(200)}${']'.repeat(200)},`), 400],
])('a batch that is rejected as a whole keeps no keys and tokens: %s', async (_name, body, status) => {
  const before = (await lettersOf('pl_web')).letters.length;
  expect((await send({ path: '/v1/batch', body })).status).toBe(status);
  const [letter, ...more] = (await lettersOf('pl_web')).letters.slice(before);
  expect(more).toEqual([]);
  const stored = JSON.stringify(letter?.event);
  expect(stored).toContain('locale');
  for (const secret of ['ct_in_event', 'ct_of_batch', 'pk_web']) expect(stored).not.toContain(secret);
});

test.each([70_000, 1_048_576])('64 KB of an event of %d bytes are kept, as text', async (size) => {
  await send({ path: '/v1/t', body: json({ type: 'track', messageId: `large-${size}`, properties: { text: 'x'.repeat(size) } }) });
  const { event } = (await found(`large-${size}`)) ?? {};
  expect(event?.truncated).toBe(true);
  expect(String(event?.raw)).toHaveLength(65_536);
});

test('of a flood the newest 1,000 are kept and the rest is counted', async () => {
  for (let n = 0; n < 4; n++) {
    const batch = Array.from({ length: 400 }, (_, i) => ({ type: 'track', messageId: `flood-${n * 400 + i}` }));
    expect((await send({ path: '/v1/batch', key: 'pk_flood', body: json({ batch }) })).status).toBe(400);
  }
  const { letters, dropped } = await lettersOf('pl_flood');
  expect(letters.length + dropped).toBe(1_600);
  // A slow machine flushes in between; the budget of the next flush is then a little larger than what was left.
  expect(letters.length).toBeGreaterThanOrEqual(1_000);
  expect(letters.length).toBeLessThan(1_600);
  expect(letters.at(-1)?.event_id).toBe('flood-1599');
});

test('a corrected event is the event it should have been, once', async () => {
  const batch = {
    sentAt: '2026-01-01T00:00:00.000Z',
    context: { locale: 'fr' },
    batch: [{ type: 'track', anonymousId: 'a-1', messageId: 'fix-1' }],
  };
  await send({ path: '/v1/batch', body: json(batch) });
  const letter = await found('fix-1');
  const rules = snapshot.pipelines.get('pl_web')?.ingest;
  if (letter === undefined || rules === undefined) throw new Error('the rejected event was not kept');
  expect(replayRejected(letter, rules)).toEqual({ ok: false, message: 'event is required.' });
  const raw = { type: 'track', event: 'Fixed', anonymousId: 'a-1' };
  const replay = replayRejected({ ...letter, event: { ...letter.event, raw } }, rules);
  if (!replay.ok) throw new Error(replay.message);
  await harness.log.append([replay.append]);
  await harness.log.append([replay.append]);
  const stored = (await harness.stored()).filter(({ envelope }) => envelope.event_id === 'fix-1');
  expect(stored).toHaveLength(1);
  expect(stored[0]?.envelope).toMatchObject({ replay_of: letter.id, source: 'server', received_at: Date.parse(letter.event.received_at) });
  expect(stored[0]?.event).toMatchObject({ event: 'Fixed', anonymous_id: 'a-1', context: { locale: 'fr' } });
});

test('an event with a messageId that cannot be one is corrected once, however often it is sent', async () => {
  await send({ path: '/v1/t', body: json({ type: 'track', event: 'Once', messageId: 'é' }) });
  const letter = await found('é');
  const rules = snapshot.pipelines.get('pl_web')?.ingest;
  if (letter === undefined || rules === undefined) throw new Error('the rejected event was not kept');
  const corrected = { ...letter, event: { ...letter.event, raw: { type: 'track', event: 'Once' } } };
  for (let n = 0; n < 2; n++) {
    const replay = replayRejected(corrected, rules);
    if (!replay.ok) throw new Error(replay.message);
    await harness.log.append([replay.append]);
  }
  expect((await harness.stored()).filter(({ event }) => event.event === 'Once')).toHaveLength(1);
});

test('a corrected identify keeps the anonymous id of its cookie', async () => {
  const body = { type: 'identify', messageId: null, timestamp: 'soon', traits: { plan: 'pro' } };
  await send({ path: '/v1/identify', body: json(body), headers: { cookie: '_df_id=known' } });
  const letter = (await lettersOf('pl_web')).letters.at(-1);
  const rules = snapshot.pipelines.get('pl_web')?.ingest;
  if (letter === undefined || rules === undefined) throw new Error('the rejected event was not kept');
  expect(letter.event).toMatchObject({ message: expect.stringContaining('timestamp') });
  const replay = replayRejected({ ...letter, event: { ...letter.event, raw: { ...body, timestamp: null } } }, rules);
  if (!replay.ok) throw new Error(replay.message);
  await harness.log.append([replay.append]);
  const stored = (await harness.stored()).find(({ envelope }) => envelope.event_id === letter.event_id);
  expect(stored?.event).toMatchObject({ type: 'identify', anonymous_id: 'known' });
});

test.each([
  ['/v1/t', (event: string) => event],
  ['/v1/batch', (event: string) => `{"batch":[${event}]}`],
])('a number that cannot be kept exactly keeps its digits, and its replay is refused with the same message: %s', async (path, bodyOf) => {
  const id = `inexact${path}`;
  const event = `{"type":"track","event":"X","messageId":"${id}","properties":{"total":9007199254740993,"rate":1e400}}`;
  const withKey = event.replace('{', '{"writeKey":"pk_web","context":{"challenge_token":"t"},');
  expect((await send({ path, body: bodyOf(withKey) })).status).toBe(400);
  const letter = await found(id);
  const rules = snapshot.pipelines.get('pl_web')?.ingest;
  if (letter === undefined || rules === undefined) throw new Error('the rejected event was not kept');
  const message = 'properties.total is a number that cannot be kept exactly: send it as a string.';
  expect(letter.event).toMatchObject({ raw: event.replace('{', '{"context":{},'), inexact: true, message });
  expect(replayRejected(letter, rules)).toEqual({ ok: false, message });
  const corrected = {
    ...letter,
    event: { ...letter.event, raw: { type: 'track', event: 'X', properties: { total: '9007199254740993' } } },
  };
  expect(replayRejected(corrected, rules)).toMatchObject({ ok: true });
});

test.each([
  ['{"total":9007199254740993}', 'properties.total is a number that cannot be kept exactly: send it as a string.'],
  ['{"total"', 'properties must be a JSON object.'],
])('a pixel with the properties %s is rejected and kept', async (properties, message) => {
  const query = new URLSearchParams({ writeKey: 'pk_web', event: 'X', messageId: message, properties, 'properties.other': 'y' });
  const response = await fetch(`${harness.url}/v1/pixel/t?${query}`, { headers: { referer: 'https://shop.example/' } });
  expect([response.status, await response.json()]).toEqual([400, { error: 'validation_failed', message }]);
  const letter = await found(message);
  expect(letter).toMatchObject({ reason: 'validation_failed', event: { message, raw: { event: 'X', messageId: message, properties } } });
  const rules = snapshot.pipelines.get('pl_web')?.ingest;
  expect(letter && rules && replayRejected(letter, rules)).toMatchObject({ ok: false });
});

test('a text of JSON in a JSON string is no event', async () => {
  await send({ path: '/v1/t', body: json(json({ type: 'track', event: 'X', messageId: 'in-a-string' })) });
  const letter = (await lettersOf('pl_web')).letters.at(-1);
  const rules = snapshot.pipelines.get('pl_web')?.ingest;
  if (letter === undefined || rules === undefined) throw new Error('the rejected event was not kept');
  expect(replayRejected(letter, rules)).toMatchObject({ ok: false, message: expect.stringContaining('not a JSON object') });
});

test('an oversized batch is stored under a new id', async () => {
  const event = { type: 'track', event: 'X', messageId: 'in-large-batch', properties: { text: 'x'.repeat(100_000) } };
  expect((await send({ path: '/v1/batch', key: 'pk_token', body: json({ batch: Array(60).fill(event) }) })).status).toBe(413);
  expect(await found('in-large-batch', 'pl_token')).toBeUndefined();
  expect((await lettersOf('pl_token')).letters.at(-1)).toMatchObject({ reason: 'payload_too_large', event: { truncated: true } });
});
