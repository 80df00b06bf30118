/** Every kind of rejection, from the request to the corrected event: nothing is rejected silently. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Loose, pipelineTo, send, until } from './harness/client.ts';
import { watch } from './harness/live-view.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage({ MAX_BODY_BYTES: '200000' });

interface Kind {
  name: string;
  path: string;
  /** Has the messageId `<pipeline id>-1`, as far as the kind allows. */
  body(id: string): unknown;
  status: number;
  /** Events of the same request that are accepted. */
  accepted?: number;
  reason: string;
  message: string;
}
const good = { type: 'track', event: 'Good', userId: 'u1' };
const KINDS: Kind[] = [
  {
    name: 'a field is missing',
    path: '/v1/t',
    body: (messageId) => ({ type: 'track', messageId, userId: 'u1' }),
    status: 400,
    reason: 'missing_field',
    message: 'event is required.',
  },
  {
    name: 'a field has a wrong type',
    path: '/v1/track',
    body: (messageId) => ({ event: 7, messageId }),
    status: 400,
    reason: 'validation_failed',
    message: 'event must be a string.',
  },
  {
    name: 'a time is none',
    path: '/v1/page',
    body: (messageId) => ({ name: 'Home', timestamp: 'soon', messageId }),
    status: 400,
    reason: 'validation_failed',
    message: 'timestamp must be an ISO 8601 time from 1970 to 9999.',
  },
  {
    name: 'a path takes another type',
    path: '/v1/g',
    body: (messageId) => ({ type: 'track', event: 'X', messageId }),
    status: 400,
    reason: 'validation_failed',
    message: 'type must be group here.',
  },
  {
    name: 'a number cannot be kept exactly',
    path: '/v1/t',
    body: (id) => `{"type":"track","event":"X","messageId":"${id}","properties":{"order":9007199254740993}}`,
    status: 400,
    reason: 'validation_failed',
    message: 'properties.order is a number that cannot be kept exactly: send it as a string.',
  },
  {
    name: 'the body nests too deep',
    path: '/v1/t',
    body: (id) => `{"type":"track","messageId":"${id}","event":"X","properties":${'['.repeat(65)}${']'.repeat(65)}}`,
    status: 400,
    reason: 'validation_failed',
    message: 'The body nests deeper than 64 levels.',
  },
  {
    name: 'the body was cut',
    path: '/v1/t',
    body: (id) => `{"type":"track","messageId":"${id}","event":"Or`,
    status: 400,
    reason: 'invalid_json',
    message: 'The body is not valid JSON.',
  },
  {
    name: 'the body is not UTF-8',
    path: '/v1/t',
    body: (id) => Buffer.from(`{"type":"track","messageId":"${id}","event":"Caf\xe9"}`, 'latin1'),
    status: 400,
    reason: 'invalid_json',
    message: 'The body is not valid UTF-8.',
  },
  {
    name: 'a compressed body was cut before it was compressed',
    path: '/v1/t',
    body: (id) => gzipSync(`{"type":"track","messageId":"${id}"`),
    status: 400,
    reason: 'invalid_json',
    message: 'The body is not valid JSON.',
  },
  {
    name: 'an event holds too many values',
    path: '/v1/t',
    body: (messageId) => ({ type: 'track', event: 'X', messageId, properties: { list: Array.from({ length: 50_001 }, () => []) } }),
    status: 413,
    reason: 'payload_too_large',
    message: 'An event may hold at most 50000 objects, lists and named values.',
  },
  {
    name: 'an event is larger than the limit',
    path: '/v1/t',
    body: (messageId) => ({ type: 'track', event: 'X', messageId, properties: { text: 'x'.repeat(200_000) } }),
    status: 413,
    reason: 'payload_too_large',
    message: 'The payload is larger than the limit: split it.',
  },
  {
    name: 'one event of a batch misses a field',
    path: '/v1/batch',
    body: (messageId) => ({ batch: [good, { type: 'group', messageId, userId: 'u1' }] }),
    status: 200,
    accepted: 1,
    reason: 'missing_field',
    message: 'groupId is required.',
  },
  {
    name: 'one event of a batch is too large',
    path: '/v1/import',
    body: (messageId) => ({ batch: [good, { type: 'track', event: 'X', messageId, properties: { text: 'x'.repeat(200_000) } }] }),
    status: 200,
    accepted: 1,
    reason: 'payload_too_large',
    message: 'The payload is larger than the limit: split it.',
  },
  {
    name: 'the only event of a batch has no id of a person',
    path: '/beacon/v1/batch',
    body: (messageId) => ({ batch: [{ type: 'identify', traits: {}, messageId }] }),
    status: 400,
    reason: 'missing_field',
    message: 'userId or anonymousId is required.',
  },
];

describe('a rejected event explains itself', () => {
  test.concurrent.each(KINDS)('$name', async ({ path, body, status, accepted = 0, reason, message }) => {
    const { pipeline, key } = await pipelineTo(client, `${receiver.url}/${reason}`);
    const id = `${pipeline.id}-1`;
    const reply = await send(service, key, path, body(id) as Loose);
    expect(reply.status).toBe(status);
    const named = reply.body.errors?.[0] ?? reply.body;
    expect(named).toMatchObject({ error: reason, message });

    // By its messageId, and in the list.
    const found = await until('the explanation', async () => {
      const answer = await client.call('GET', `/events/${id}`);
      return answer.status === 200 && answer.body;
    });
    const explained = { event_id: id, pipeline_id: pipeline.id, status: 'rejected', reason, message };
    expect(found).toMatchObject(explained);
    expect(JSON.stringify(found.raw)).toContain(id);
    const listed = await client.call('GET', `/events?status=rejected&pipeline_id=${pipeline.id}`);
    expect(listed.body.events).toMatchObject([explained]);

    // Counted by its reason.
    const { totals } = await until('the count', async () => {
      const stats = await client.get(`/stats?pipeline_id=${pipeline.id}`);
      return stats.totals.rejected === 1 && stats.totals.received === accepted && stats;
    });
    expect(totals.rejected_by_reason).toEqual({ [reason]: 1 });
    expect(totals.rejected_dropped).toBe(0);

    // A dead letter, which is refused as it was and accepted when corrected.
    const { dead_letters } = await client.get(`/dlq?pipeline_id=${pipeline.id}`);
    expect(dead_letters).toMatchObject([{ id: found.dead_letter_id, stage: 'ingest', event_id: id, reason, status: 'pending' }]);
    const replay = `/dlq/${found.dead_letter_id}/replay`;
    expect((await client.call('POST', replay, { event: { type: 'track' } })).status).toBe(422);
    const corrected = { type: 'track', event: 'Corrected', userId: 'u1' };
    expect(await client.call('POST', replay, { event: corrected })).toMatchObject({ status: 202, body: { replayed: 1 } });
    await until('the corrected event', () => receiver.events().some((event) => event.event_id === id));
    expect(receiver.events().filter((event) => event.event_id === id)).toMatchObject([{ event: 'Corrected', user_id: 'u1' }]);
    const processed = await until('its trace', async () => {
      const answer = await client.call('GET', `/events/${id}`);
      return answer.body.status === 'processed' && answer.body;
    });
    expect(processed).toMatchObject({ event_id: id, event: { event: 'Corrected' } });
  });

  test('the live view shows it with its id', async () => {
    const { key, pipeline } = await pipelineTo(client, receiver.url);
    const { frames, opened, end } = watch(service, `?token=${client.token}`);
    await opened;
    let sent = 0;
    // Repeated: the watch takes time to reach all processes.
    const frame = await until('a rejection', async () => {
      await send(service, key, '/v1/batch', { batch: [good, { type: 'track', messageId: `live-${pipeline.id}-${sent++}` }] });
      return frames.find((each) => each.stage === 'rejected' && each.pipeline_id === pipeline.id);
    });
    end();
    expect(frame).toMatchObject({
      event_id: expect.stringMatching(`^live-${pipeline.id}-`),
      reason: 'missing_field',
      payload: { index: 1 },
    });
  });

  test('an event of a batch without its challenge token', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url, { pipeline: { challenge_token_required: true } });
    const { token } = (await client.call('POST', `/pipelines/${pipeline.id}/tokens`)).body;
    const batch = [
      { ...good, context: { challenge_token: token } },
      { ...good, messageId: `${pipeline.id}-1` },
    ];
    const reply = await send(service, key, '/v1/batch', { batch });
    expect(reply).toMatchObject({ status: 200, body: { accepted: 1, rejected: 1, errors: [{ error: 'invalid_challenge_token' }] } });
    const found = await until('the explanation', async () => {
      const answer = await client.call('GET', `/events/${pipeline.id}-1`);
      return answer.status === 200 && answer.body;
    });
    expect(found).toMatchObject({ status: 'rejected', reason: 'invalid_challenge_token' });
  });
});
