import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { DeadLetter, Outcome, RejectedEvent } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { replayRejected } from '../../intake/replay-rejected.ts';
import { systemClock } from '../../runtime/clock.ts';
import { aPipeline, aSnapshot, type Harness, SECRET, startIngest } from './testing/harness.ts';
import { Client } from './testing/raw-client.ts';

const PIPELINES = {
  shop: aPipeline({ id: 'pl_shop', pipeline_key: 'pk_shop', domain_allowlist: ['shop.example'] }),
  off: aPipeline({ id: 'pl_off', pipeline_key: 'pk_off', enabled: false }),
  ip: aPipeline({ id: 'pl_ip', pipeline_key: 'pk_ip', type: 'server', config: { ip_allowlist: ['10.0.0.0/8'] } }),
  signed: aPipeline({ id: 'pl_signed', pipeline_key: 'pk_signed', type: 'server', config: { require_signature: true } }),
  offSigned: aPipeline({ id: 'pl_off_signed', pipeline_key: 'pk_off_signed', type: 'server', enabled: false }),
  flood: aPipeline({ id: 'pl_flood', pipeline_key: 'pk_flood', enabled: false }),
};
const snapshot = aSnapshot(Object.values(PIPELINES));
const EVIL = { origin: 'https://evil.test' };
let harness: Harness;
beforeAll(async () => {
  // Budgets never refill while the clock stands.
  harness = await startIngest(snapshot, { watched: true, clock: { ...systemClock, monotonic: () => 0 } });
});
beforeEach(() => void harness.frames.splice(0));
afterAll(() => harness.close());

const json = JSON.stringify;
const event = (messageId: string) => ({ type: 'track', event: 'X', anonymousId: 'a', messageId });
const send = (path: string, key: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(harness.url + path, { method: 'POST', headers: { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), ...headers }, body });
async function rejectedOf(pipelineId: string) {
  await harness.flushRejected();
  const isOf = (outcome: Outcome) => outcome.kind === 'rejected_events' && outcome.pipeline_id === pipelineId;
  const outcomes = (await harness.outcomes()).filter(isOf) as Extract<Outcome, { kind: 'rejected_events' }>[];
  return { letters: outcomes.flatMap(({ letters }) => letters), dropped: outcomes.reduce((sum, { dropped }) => sum + dropped, 0) };
}
type Kept = DeadLetter & { event: RejectedEvent };
/** The answer may come before the body is read. */
async function kept(pipelineId: string, eventId: string): Promise<Kept> {
  const find = async () => (await rejectedOf(pipelineId)).letters.find(({ event_id }) => event_id === eventId);
  await expect.poll(find).toBeDefined();
  return (await find()) as Kept;
}
function signature(body: string): Record<string, string> {
  const time = String(Date.now());
  return { 'x-timestamp': time, 'x-signature': `sha256=${createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')}` };
}

describe('a request whose sender is refused is kept with its messageId, and shown live with it', () => {
  test.each<[name: string, key: string, headers: Record<string, string>, status: number, reason: string, sender: object | undefined]>([
    ['a wrong origin', 'pk_shop', EVIL, 403, 'origin_not_allowed', EVIL],
    ['a disabled pipeline', 'pk_off', {}, 401, 'pipeline_disabled', {}],
    ['a wrong address', 'pk_ip', {}, 403, 'ip_not_allowed', { address: '127.0.0.1' }],
    ['a missing signature', 'pk_signed', {}, 401, 'invalid_signature', { address: '127.0.0.1', signature: 'invalid' }],
  ])('%s', async (name, key, headers, status, reason, sender) => {
    const body = event(name);
    const response = await send('/v1/t', key, json({ ...body, writeKey: key }), headers);
    expect([response.status, await response.json()]).toMatchObject([status, { error: reason }]);
    const pipelineId = key.replace('pk_', 'pl_');
    const letter = await kept(pipelineId, name);
    expect(letter).toMatchObject({ stage: 'ingest', reason, pipeline_id: pipelineId, event: { raw: body, type: 'track' } });
    expect(letter.event.sender).toEqual(sender);
    expect(harness.frames).toMatchObject([{ stage: 'rejected', event_id: name, reason, status, pipeline_id: pipelineId }]);
  });
  test('with the key in the body', async () => {
    expect((await send('/v1/t', '', json({ ...event('in-body'), writeKey: 'pk_off' }))).status).toBe(401);
    expect((await kept('pl_off', 'in-body')).event.raw).toEqual(event('in-body'));
  });
  test('as gzip', async () => {
    expect((await send('/v1/t', 'pk_off', gzipSync(json(event('packed'))))).status).toBe(401);
    expect((await kept('pl_off', 'packed')).event.raw).toEqual(event('packed'));
  });
  test('as a pixel', async () => {
    const query = 'writeKey=pk_off&event=X&messageId=pixel&properties.a=1';
    expect((await fetch(`${harness.url}/v1/pixel/t?${query}`, { headers: { referer: 'https://shop.example/' } })).status).toBe(401);
    const raw = { event: 'X', messageId: 'pixel', properties: { a: '1' }, context: { page: { url: 'https://shop.example/' } } };
    expect((await kept('pl_off', 'pixel')).event.raw).toEqual(raw);
  });
  test('as a batch: each event, with what the batch says', async () => {
    const shared = { sentAt: '2026-01-01T00:00:00.000Z', context: { locale: 'fr' }, integrations: { All: false } };
    const batch = { ...shared, batch: [event('batch-1'), event('batch-2')] };
    expect((await send('/v1/batch', 'pk_shop', json(batch), EVIL)).status).toBe(403);
    for (const id of ['batch-1', 'batch-2'])
      expect((await kept('pl_shop', id)).event).toMatchObject({
        raw: event(id),
        request: { sent_at: shared.sentAt, context: shared.context, integrations: shared.integrations },
        sender: EVIL,
      });
    expect(harness.frames.map(({ event_id }) => event_id)).toEqual(['batch-1', 'batch-2']);
  });
  test('64 KB of a large one, as text', async () => {
    expect((await send('/v1/t', 'pk_off', json({ ...event('large'), text: 'x'.repeat(300_000) }))).status).toBe(401);
    const letter = await kept('pl_off', 'large');
    expect([String(letter.event.raw).length, letter.event.truncated]).toEqual([65_536, true]);
  });
});

test('requests for the settings of an SDK bring no event: they are not kept', async () => {
  const { letters } = await rejectedOf('pl_off');
  expect((await fetch(`${harness.url}/v1/projects/pk_off/settings`)).status).toBe(401);
  expect((await rejectedOf('pl_off')).letters).toHaveLength(letters.length);
});

describe('on a bare connection', () => {
  async function open(head: string): Promise<Client> {
    const socket = connect(harness.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(head);
    return new Client(socket);
  }
  const head = (length: number) => `POST /v1/t HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer pk_off\r\nContent-Length: ${length}\r\n\r\n`;

  test('the answer does not wait for the body, which is kept when it comes, and the connection goes on', async () => {
    const body = json(event('late'));
    const client = await open(head(body.length));
    expect((await client.answer()).status).toBe(401);
    client.socket.write(body.slice(0, 10));
    client.socket.write(body.slice(10));
    await kept('pl_off', 'late');
    const next = json(event('next'));
    client.socket.write(head(next.length) + next);
    expect((await client.answer()).status).toBe(401);
    await kept('pl_off', 'next');
    client.socket.destroy();
  });
  test('a body that is cut off is kept as far as it came', async () => {
    const body = json(event('cut-off'));
    const client = await open(head(body.length + 10) + body);
    expect((await client.answer()).status).toBe(401);
    client.socket.destroy();
    expect((await kept('pl_off', 'cut-off')).event).toMatchObject({ raw: body, truncated: true });
  });
});

test('beyond the budget of its pipeline a refused request is only counted', async () => {
  for (let n = 0; n < 2; n++) {
    const batch = Array.from({ length: 500 }, (_, i) => event(`flood-${n * 500 + i}`));
    expect((await send('/v1/batch', 'pk_flood', json({ batch }))).status).toBe(401);
  }
  await expect.poll(async () => (await rejectedOf('pl_flood')).letters).toHaveLength(1_000);
  harness.frames.splice(0);
  for (let n = 0; n < 3; n++) expect((await send('/v1/t', 'pk_flood', json(event(`beyond-${n}`)))).status).toBe(401);
  const { letters, dropped } = await rejectedOf('pl_flood');
  expect([letters.length, dropped]).toEqual([1_000, 3]);
  expect(
    harness.frames.map((frame) => frame.event_id),
    'the body was not read',
  ).toEqual([undefined, undefined, undefined]);
  await harness.ingest.stop(0);
  const counted = (await harness.outcomes()).flatMap((outcome) =>
    outcome.kind === 'ingest_counts' && outcome.pipeline_id === 'pl_flood' ? [outcome.rejected.pipeline_disabled ?? 0] : [],
  );
  expect(
    counted.reduce((sum, n) => sum + n, 0),
    'every event that was read, and every request that was not',
  ).toBe(1_003);
});

describe('replay', () => {
  const rulesWith = (over: Parameters<typeof aPipeline>[0]) => aSnapshot([aPipeline(over)]).pipelines.get('pl_web')!.ingest;
  const server = (config: object) => rulesWith({ type: 'server', config });
  const letterOf = (reason: string, sender: RejectedEvent['sender'], request: RejectedEvent['request'] = { source: 'server' }) =>
    ({
      id: 'dlq_1',
      event_id: 'again',
      reason,
      event: { raw: event('again'), message: '', received_at: new Date().toISOString(), sender, request },
    }) as unknown as DeadLetter;
  const refused = (message: RegExp) => ({ ok: false, sender: true, message: expect.stringMatching(message) });

  test('of a wrong origin: once the allowlist has it', () => {
    const letter = letterOf('origin_not_allowed', EVIL, { source: 'browser' });
    expect(replayRejected(letter, rulesWith({ domain_allowlist: ['shop.example'] }))).toEqual(refused(/https:\/\/evil\.test is not on/));
    expect(replayRejected(letter, rulesWith({ domain_allowlist: ['shop.example', 'evil.test'] }))).toMatchObject({ ok: true });
  });
  test.each([
    ['ip_not_allowed', /address that was not allowed.*never be replayed/],
    ['invalid_signature', /signature was not valid.*never be replayed/],
  ])('of %s: never, also when the pipeline allows everything now', (reason, message) => {
    expect(replayRejected(letterOf(reason, { address: '10.0.0.1' }), server({}))).toEqual(refused(message));
  });
  test('of a disabled pipeline: what ingest had not come to is checked', () => {
    const of = (sender: RejectedEvent['sender']) => letterOf('pipeline_disabled', sender);
    expect(replayRejected(of({}), rulesWith({}))).toMatchObject({ ok: true });
    expect(replayRejected(of(EVIL), rulesWith({ domain_allowlist: ['shop.example'] }))).toEqual(refused(/domain allowlist/));
    const addresses = server({ ip_allowlist: ['10.0.0.0/8'] });
    expect(replayRejected(of({ address: '192.0.2.1' }), addresses)).toEqual(refused(/IP allowlist/));
    expect(replayRejected(of({}), addresses)).toEqual(refused(/IP allowlist/));
    expect(replayRejected(of({ address: '10.1.2.3' }), addresses)).toMatchObject({ ok: true });
    expect(replayRejected(of({}), server({ require_signature: true }))).toEqual(refused(/signature/));
    expect(replayRejected(of({ signature: 'invalid' }), server({}))).toEqual(refused(/signature/));
    expect(replayRejected(of({ signature: 'valid' }), server({ require_signature: true }))).toMatchObject({ ok: true });
  });
  test('a disabled server pipeline still verifies signatures, for the replay', async () => {
    const live = await startIngest(aSnapshot([PIPELINES.offSigned]));
    const call = (messageId: string, headers: Record<string, string> = {}) =>
      fetch(`${live.url}/v1/t`, {
        method: 'POST',
        headers: { authorization: 'Bearer pk_off_signed', ...headers },
        body: json(event(messageId)),
      });
    await call('unsigned');
    await call('signed', signature(json(event('signed'))));
    await call('forged', signature('another body'));
    const senders = async () => {
      await live.flushRejected();
      const outcomes = await live.outcomes();
      const letters = outcomes.flatMap((outcome) => (outcome.kind === 'rejected_events' ? (outcome.letters as Kept[]) : []));
      return Object.fromEntries(letters.map((letter) => [letter.event_id, letter.event.sender?.signature ?? 'none']));
    };
    await expect.poll(senders).toEqual({ unsigned: 'none', signed: 'valid', forged: 'invalid' });
    await live.close();
  });
});
