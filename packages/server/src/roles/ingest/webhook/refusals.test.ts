import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replayWebhook } from '../../../intake/webhook/replay.ts';
import { compileWebhookSource } from '../../../snapshot/webhook-source.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { type Harness, startIngest } from '../testing/harness.ts';
import { deliver as deliverTo, hmac, INGEST, SECRET, SOURCES, snapshot, startWebhooks, stripeHeader } from '../testing/webhooks.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startWebhooks();
});
afterAll(() => harness.close());
async function deliver(id: string, body: string, headers?: Record<string, string>) {
  const delivered = await deliverTo(harness, id, body, headers);
  expect([delivered.status, delivered.answer]).toEqual([200, { success: true }]);
  return delivered;
}

describe('rejected webhooks', () => {
  const REFUSED: [name: string, id: string, body: string, headers: Record<string, string>, reason: RegExp][] = [
    ['a missing signature', 'stripe', '{}', {}, /stripe-signature is missing/],
    ['a malformed signature', 'stripe', '{}', { 'stripe-signature': 'nonsense' }, /malformed/],
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
  test('a dead letter never contains a shared secret', async () => {
    const { letters } = await deliver('shared', '{"no":"type"}', { 'x-token': SECRET });
    expect(letters[0]!.reason).toMatch(/no event name/);
    expect(JSON.stringify(letters[0])).not.toContain(SECRET);
  });
});

describe('replay', () => {
  const rules = snapshot.pipelines.get('pl_web')!.ingest;
  const mended = (id: string, over: Partial<WebhookSource>) => {
    const result = compileWebhookSource({ ...SOURCES.find((each) => each.id === `whs_${id}`)!, ...over });
    if (!result.ok) throw new Error('does not compile');
    return result.source;
  };
  const run = (letter: DeadLetter, compiled: ReturnType<typeof mended>) => replayWebhook(letter, compiled, rules, { ingestUrl: INGEST });

  test('after the mapping is mended', async () => {
    const { letters } = await deliver('hmac', '{"what":"x","n":5}', { 'x-sig': hmac('{"what":"x","n":5}', 'hex') });
    const replay = run(letters[0]!, mended('hmac', { event_type_path: '$.what' }));
    expect(replay.ok && replay.appends).toHaveLength(1);
    if (replay.ok) await harness.log.append(replay.appends);
    const stored = (await harness.stored()).find((each) => each.envelope.replay_of === letters[0]!.id)!;
    expect(stored.event).toMatchObject({ event: 'x', properties: { n: 5 }, timestamp: letters[0]!.created_at });
  });
  test('after the secret is fixed, verified as of the time of receipt', async () => {
    const payload = JSON.stringify({ id: 'evt_late', type: 'invoice.paid', created: 1_772_366_400, data: { object: {} } });
    const { letters } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload, undefined, 'whsec_new') });
    const letter = letters[0]!;
    expect(run(letter, mended('stripe', {}))).toMatchObject({ ok: false, reason: expect.stringMatching(/does not match/) });
    expect(run(letter, mended('stripe', { signing_secret: 'whsec_new' }))).toMatchObject({ ok: true });
    const aged = { ...letter, event: { ...letter.event, received_at: new Date(Date.now() + 3_600_000).toISOString() } } as DeadLetter;
    expect(run(aged, mended('stripe', { signing_secret: 'whsec_new' }))).toMatchObject({ ok: false });
  });
  test('a shared secret is verified by its digest', async () => {
    const { letters } = await deliver('shared', '{"kind":"x"}', { 'x-token': SECRET });
    expect(run(letters[0]!, mended('shared', { event_type_path: '$.kind' }))).toMatchObject({ ok: true });
    expect(run(letters[0]!, mended('shared', { event_type_path: '$.kind', signing_secret: 'rotated' }))).toMatchObject({ ok: false });
  });
  test('a truncated webhook cannot be replayed', async () => {
    const { letters } = await deliver('stripe', JSON.stringify({ x: 'x'.repeat(70_000) }));
    expect(run(letters[0]!, mended('stripe', {}))).toMatchObject({ ok: false, reason: expect.stringMatching(/part/) });
  });
});

test('a provider may check the URL with HEAD first', async () => {
  expect((await fetch(`${harness.url}/v1/webhook?source=whs_intercom`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${harness.url}/v1/webhook?source=whs_intercom`)).status).toBe(405);
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
