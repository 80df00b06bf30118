import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import type { DeadLetter, RejectedWebhook } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replayWebhook } from '../../../intake/webhook/replay.ts';
import { createSecretDigest } from '../../../secrets/secret-digest.ts';
import { compileWebhookSource } from '../../../snapshot/webhook-source.ts';
import { LogUnavailable, RecordTooLarge } from '../../../stores/event-log/port.ts';
import { type Harness, SECRET as SECRET_KEY, startIngest, withAppend } from '../testing/harness.ts';
import { deliver as deliverTo, hmac, INGEST, SECRET, SOURCES, snapshot, startWebhooks, stripeHeader } from '../testing/webhooks.ts';

const { Signature } = createRequire(import.meta.url)('@hubspot/api-client') as {
  Signature: { getSignature(method: string, version: string, options: object): string };
};
const rules = snapshot.pipelines.get('pl_web')!.ingest;
const digestSecret = createSecretDigest(SECRET_KEY);
const mended = (id: string, over: Partial<WebhookSource> = {}) => {
  const result = compileWebhookSource({ ...SOURCES.find((each) => each.id === `whs_${id}`)!, ...over });
  if (!result.ok) throw new Error('does not compile');
  return result.source;
};
const run = (letter: DeadLetter, compiled: ReturnType<typeof mended>) =>
  replayWebhook(letter, compiled, rules, { ingestUrl: INGEST, digestSecret });

let harness: Harness;
beforeAll(async () => {
  harness = await startWebhooks();
});
afterAll(() => harness.close());
async function deliver(id: string, body: string | Buffer, headers?: Record<string, string>) {
  const delivered = await deliverTo(harness, id, body, headers);
  expect([delivered.status, delivered.answer]).toEqual([200, { success: true }]);
  return delivered;
}

describe('rejected webhooks', () => {
  const REFUSED: [name: string, id: string, body: string, headers: Record<string, string>, reason: RegExp][] = [
    ['a missing signature', 'stripe', '{}', {}, /stripe-signature is missing/],
    ['a malformed signature', 'stripe', '{}', { 'stripe-signature': 'nonsense' }, /malformed/],
    ['a signature with more behind it', 'stripe', '{}', { 'stripe-signature': `${stripeHeader('{}')}a` }, /does not match/],
    ['the same, not hex', 'stripe', '{}', { 'stripe-signature': `${stripeHeader('{}')}zz` }, /does not match/],
    ['a wrong secret', 'stripe', '{}', { 'stripe-signature': stripeHeader('{}', undefined, 'whsec_other') }, /does not match/],
    [
      'a signature 301 s old',
      'stripe',
      '{}',
      { 'stripe-signature': stripeHeader('{}', Math.floor(Date.now() / 1_000) - 302) },
      /tolerance/,
    ],
    ['a changed body', 'shopify', '{"a":2}', { 'x-shopify-hmac-sha256': hmac('{"a":1}', 'base64') }, /does not match/],
    ['no event name', 'hmac', '{}', { 'x-sig': hmac('{}', 'hex') }, /no event name/],
    ['a body that is no JSON', 'open', 'a=b', {}, /not valid JSON/],
    ['a body that is a number', 'open', '7', {}, /neither an object nor a list/],
    ['a timestamp that is none', 'open', '{"at":"soon"}', {}, /timestamp is not unix_seconds/],
    ['a userId that is an object', 'open', '{"user":{"id":{}}}', {}, /userId is not text/],
    ['a messageId beyond ASCII', 'open', '{"uid":"é"}', {}, /messageId/],
    ['a depth bomb', 'open', '['.repeat(10_000), {}, /nests deeper/],
  ];
  test.each(REFUSED)('%s is a dead letter', async (_name, id, body, headers, reason) => {
    const frames = harness.frames.length;
    const { events, letters } = await deliver(id, body, { ...headers, authorization: 'Bearer other', cookie: 'session=hidden' });
    expect(events).toEqual([]);
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({
      stage: 'webhook',
      webhook_source_id: `whs_${id}`,
      pipeline_id: 'pl_web',
      integration_id: null,
      event: { body },
    });
    expect(letters[0]!.reason).toMatch(reason);
    expect(JSON.stringify(letters[0])).not.toMatch(/Bearer other|session=hidden/);
    expect(harness.frames.slice(frames)).toMatchObject([{ stage: 'webhook_rejected', pipeline_id: 'pl_web' }]);
  });
  test('a byte order mark before the JSON is no reason to reject it', async () => {
    const { events, letters } = await deliver('open', '\ufeff{"uid":"with-mark","type":"Paid"}');
    expect([events.length, letters]).toEqual([1, []]);
  });
  test.each([
    ['an unknown source', 'nobody', '{}'],
    ['a disabled source', 'off', '{}'],
    ['a source without a pipeline', 'orphan', '{}'],
    ['a source of a disabled pipeline', 'disabled', '{}'],
    ['a body over 1 MB', 'open', JSON.stringify({ x: 'x'.repeat(1_100_000) })],
  ])('%s: thanked, not kept', async (_name, id, body) => {
    const { events, letters } = await deliver(id, body);
    expect([events, letters]).toEqual([[], []]);
  });
  test('64 KB of a large rejected body are kept', async () => {
    const { letters } = await deliver('stripe', JSON.stringify({ x: 'é'.repeat(50_000) }));
    const { event } = letters[0] as DeadLetter & { event: { body: string; truncated?: boolean } };
    expect(Buffer.byteLength(event.body)).toBeLessThanOrEqual(65_540);
    expect(event.truncated).toBe(true);
  });
  test('a dead letter contains neither a shared secret nor its plain digest', async () => {
    const { letters } = await deliver('shared', '{"no":"type"}', { 'x-token': SECRET });
    expect(letters[0]!.reason).toMatch(/no event name/);
    expect(JSON.stringify(letters[0])).not.toContain(SECRET);
    expect(JSON.stringify(letters[0])).not.toContain(createHash('sha256').update(SECRET).digest('hex'));
  });
  test('the digest of a kept shared secret is no secret: a live request with it is rejected', async () => {
    const { letters } = await deliver('shared', '{"no":"type"}', { 'x-token': SECRET });
    const kept = (letters[0]!.event as RejectedWebhook).headers['x-token']!;
    const earlier = `sha256-of-secret:${createHash('sha256').update(SECRET).digest('hex')}`;
    const wrong = 'signature failed: the shared secret is wrong';
    for (const forged of [kept, earlier]) {
      const { events, letters: rejected } = await deliver('shared', '{"type":"Forged"}', { 'x-token': forged });
      expect([events, rejected[0]!.reason]).toEqual([[], wrong]);
      expect(await run(rejected[0]!, mended('shared')), 'nor does its replay accept it').toEqual({ ok: false, reason: wrong });
    }
  });
});

/** Packs to more than 8 KB, and its text does not fit beside the bytes. */
const largeJson = JSON.stringify({
  what: 'Large',
  n: 7,
  noise: Array.from({ length: 1_200 }, (_, at) => createHash('sha256').update(String(at)).digest('hex')),
});

describe('replay', () => {
  test('after the mapping is mended', async () => {
    const { letters } = await deliver('hmac', '{"what":"x","n":5}', { 'x-sig': hmac('{"what":"x","n":5}', 'hex') });
    const replay = await run(letters[0]!, mended('hmac', { event_type_path: '$.what' }));
    expect(replay.ok && replay.appends).toHaveLength(1);
    if (replay.ok) await harness.log.append(replay.appends);
    const stored = (await harness.stored()).find((each) => each.envelope.replay_of === letters[0]!.id)!;
    expect(stored.event).toMatchObject({ event: 'x', properties: { n: 5 }, timestamp: letters[0]!.created_at });
  });
  test('a webhook without an id that two callers replay at once is one event', async () => {
    const body = '{"what":"Twice"}';
    const { letters } = await deliver('hmac', body, { 'x-sig': hmac(body, 'hex') });
    const source = mended('hmac', { event_type_path: '$.what' });
    for (const replay of [await run(letters[0]!, source), await run(letters[0]!, source)])
      if (replay.ok) await harness.log.append(replay.appends);
    expect((await harness.stored()).filter(({ event }) => event.event === 'Twice')).toHaveLength(1);
  });
  test('after the secret is fixed, verified as of the time of receipt', async () => {
    const payload = JSON.stringify({ id: 'evt_late', type: 'invoice.paid', created: 1_772_366_400, data: { object: {} } });
    const { letters } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload, undefined, 'whsec_new') });
    const letter = letters[0]!;
    expect(await run(letter, mended('stripe', {}))).toMatchObject({ ok: false, reason: expect.stringMatching(/does not match/) });
    expect(await run(letter, mended('stripe', { signing_secret: 'whsec_new' }))).toMatchObject({ ok: true });
    const aged = { ...letter, event: { ...letter.event, received_at: new Date(Date.now() + 3_600_000).toISOString() } } as DeadLetter;
    expect(await run(aged, mended('stripe', { signing_secret: 'whsec_new' }))).toMatchObject({ ok: false });
  });
  test('a shared secret is verified by its digest', async () => {
    const { letters } = await deliver('shared', '{"kind":"x"}', { 'x-token': SECRET });
    expect(await run(letters[0]!, mended('shared', { event_type_path: '$.kind' }))).toMatchObject({ ok: true });
    expect(await run(letters[0]!, mended('shared', { event_type_path: '$.kind', signing_secret: 'rotated' }))).toMatchObject({ ok: false });
  });
  test.each([
    ['sent as gzip', gzipSync('{"what":"Packed é","n":5}'), '{"what":"Packed é","n":5}', { event: 'Packed é', properties: { n: 5 } }],
    ['sent as gzip and larger than 8 KB', gzipSync(largeJson), largeJson.slice(0, 20), { event: 'Large', properties: { n: 7 } }],
  ])('a webhook that was %s: the signed bytes are kept beside the text', async (_name, body, text, event) => {
    const { letters } = await deliver('hmac', body, { 'x-sig': hmac(body, 'hex') });
    const kept = letters[0]!.event as RejectedWebhook;
    expect(kept.body.startsWith(text)).toBe(true);
    expect(Buffer.byteLength(kept.body) + kept.body_base64!.length).toBeLessThanOrEqual(65_540);
    expect(await run(letters[0]!, mended('hmac', { signing_secret: 'rotated', event_type_path: '$.what' }))).toMatchObject({ ok: false });
    const replay = await run(letters[0]!, mended('hmac', { event_type_path: '$.what' }));
    if (!replay.ok) throw new Error(replay.reason);
    await harness.log.append(replay.appends);
    expect((await harness.stored()).find(({ envelope }) => envelope.replay_of === letters[0]!.id)?.event).toMatchObject(event);
  });
  test('a webhook that is not UTF-8: the signed bytes are kept', async () => {
    const body = Buffer.from('{"kind":"caf\xe9"}', 'latin1');
    const { letters } = await deliver('hmac', body, { 'x-sig': hmac(body, 'hex') });
    const reason = 'The body is not valid UTF-8.';
    expect(letters[0]).toMatchObject({ reason, event: { body: '{"kind":"caf\ufffd"}', body_base64: body.toString('base64') } });
    expect(await run(letters[0]!, mended('hmac')), 'it was signed well').toEqual({ ok: false, reason });
  });
  test('a signature in the Authorization header is kept, a credential there is not', async () => {
    const body = '{"what":"x"}';
    const { letters } = await deliver('authorized', body, { authorization: `sha256=${hmac(body, 'base64')}` });
    expect(await run(letters[0]!, mended('authorized', { event_type_path: '$.what' }))).toMatchObject({ ok: true });
    const { letters: others } = await deliver('authorized', body, { authorization: 'Bearer fht_0123456789' });
    expect((others[0]!.event as RejectedWebhook).headers).not.toHaveProperty('authorization');
  });
  test('a HubSpot webhook behind a proxy, without INGEST_URL, is verified under the URL that it came to', async () => {
    const behind = await startWebhooks(null);
    const body = JSON.stringify([{ eventId: 1, subscriptionType: 'contact.creation', objectId: 7, occurredAt: 1_772_366_400_000 }]);
    const timestamp = Date.now();
    const url = 'https://in.shop.example/v1/webhook?source=whs_hubspot';
    const signed = { clientSecret: 'hubspot-secret', url, requestBody: body, timestamp };
    const { letters } = await deliverTo(behind, 'hubspot', body, {
      'x-forwarded-host': 'in.shop.example',
      'x-hubspot-request-timestamp': String(timestamp),
      'x-hubspot-signature-v3': Signature.getSignature('POST', 'v3', signed),
    });
    await behind.close();
    const right = mended('hubspot', { signing_secret: 'hubspot-secret' });
    const settings = { ingestUrl: undefined, digestSecret };
    expect(letters[0]!.reason, 'the secret of the source is another').toMatch(/does not match/);
    const { urls: _urls, ...withoutUrls } = letters[0]!.event as RejectedWebhook;
    expect(await replayWebhook({ ...letters[0]!, event: withoutUrls }, right, rules, settings)).toMatchObject({ ok: false });
    expect(await replayWebhook(letters[0]!, right, rules, settings)).toMatchObject({ ok: true });
  });
  test('a truncated webhook cannot be replayed', async () => {
    const { letters } = await deliver('stripe', JSON.stringify({ x: 'x'.repeat(70_000) }));
    expect(await run(letters[0]!, mended('stripe', {}))).toMatchObject({ ok: false, reason: expect.stringMatching(/part/) });
  });
});

test('a provider may check the URL with HEAD first', async () => {
  expect((await fetch(`${harness.url}/v1/webhook?source=whs_intercom`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${harness.url}/v1/webhook?source=whs_intercom`)).status).toBe(405);
});

test('a webhook whose mapped event is larger than the log takes is a dead letter, answered 200', async () => {
  const small = await startIngest(snapshot, {
    log: withAppend(async (append, isIngest) => {
      if (isIngest) throw new RecordTooLarge('a record of 3 MB');
      return await append();
    }),
  });
  const { status, answer, events, letters } = await deliverTo(small, 'open', '{"type":"Large"}');
  expect([status, answer, events]).toEqual([200, { success: true }, []]);
  expect(letters).toMatchObject([{ stage: 'webhook', reason: 'The mapped event is too large for the event log.' }]);
  await small.close();
});

test('a webhook that cannot be stored gets 503, so that the provider retries', async () => {
  const away = await startIngest(snapshot, {
    log: (log) =>
      new Proxy(log, {
        get: (target, name) => (name === 'append' ? () => Promise.reject(new LogUnavailable('away')) : Reflect.get(target, name, target)),
      }),
  });
  for (const id of ['open', 'stripe']) {
    const response = await fetch(`${away.url}/v1/webhook?source=whs_${id}`, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  }
  await away.close();
});
