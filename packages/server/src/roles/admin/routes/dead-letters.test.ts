import { createHmac } from 'node:crypto';
import type { DeadLetter, RejectedEvent } from '@firsthand/core/outcome/outcome.ts';
import { expect, test } from 'vitest';
import { decodeEventRecord, encodeEventRecord, eventRecordId, eventsTopic, replayTopic } from '../../../event-record.ts';
import { replayDeadLetters, replayLetters } from '../../../operations/replay.ts';
import { newId } from '../../../runtime/ids.ts';
import { findDeadLetter } from '../../../stores/observe/dead-letters.ts';
import { onStory, type Story } from '../testing/story.ts';

const DAY = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();
let made = 0;

async function newIntegration(story: Story): Promise<{ pipeline: string; integration: string; template: string }> {
  const pipeline = (await story.made('pipelines', { name: `Pipeline ${++made}` })).id;
  const body = { source_id: pipeline, vendor: 'webhook', name: 'Hook', config: { url: 'https://hooks.example/in' } };
  const { id, template_id } = await story.made('integrations', body);
  return { pipeline, integration: id, template: template_id };
}
async function deadLetter(story: Story, pipeline: string, more: Partial<DeadLetter> = {}): Promise<DeadLetter> {
  const at = Date.now();
  const event_id = more.event_id ?? `event-${++made}`;
  const letter: DeadLetter = {
    id: newId('dlq', at),
    org_id: story.org.org_id,
    pipeline_id: pipeline,
    integration_id: null,
    webhook_source_id: null,
    vendor: 'webhook',
    revision_number: 1,
    event_id,
    stage: 'delivery',
    event: { event_id, type: 'track', event: 'Order Completed', timestamp: iso(at), context: {}, user_id: 'u1' },
    attempts: [{ at: iso(at), status: 500, error: 'http_500', duration_ms: 5 }],
    reason: 'http_500',
    created_at: iso(at),
    expires_at: iso(at + 7 * DAY),
    ...more,
  };
  const about = { at: Date.parse(letter.created_at), org_id: letter.org_id, pipeline_id: pipeline, event_id, type: 'track' as const };
  await story.record({ kind: 'dead_lettered', dead_letter: letter, ...about });
  return letter;
}
async function replayed(story: Story, integration: string) {
  const records = [];
  for await (const record of story.harness.operations.log.read(replayTopic(integration), { limit: 1000 }))
    records.push(decodeEventRecord(record.data));
  return records;
}

onStory('rejected events', (story) => {
  async function reject(
    pipeline: string,
    messageId: string,
    raw: unknown = { type: 'track', messageId, userId: 'u-1' },
    { at = Date.now(), reason = 'missing_field', ...more }: { at?: number; reason?: string } & Partial<RejectedEvent> = {},
  ): Promise<DeadLetter> {
    const letter: DeadLetter = {
      id: newId('dlq', at),
      org_id: story.org.org_id,
      pipeline_id: pipeline,
      integration_id: null,
      webhook_source_id: null,
      vendor: null,
      revision_number: null,
      event_id: messageId,
      stage: 'ingest',
      event: { raw, message: 'event is required.', received_at: iso(at), request: { source: 'browser', ip: '203.0.113.9' }, ...more },
      attempts: [],
      reason,
      created_at: iso(at),
      expires_at: iso(at + DAY),
    };
    const about = { at, org_id: story.org.org_id, pipeline_id: pipeline };
    await story.record({ kind: 'ingest_counts', received: 0, duplicates: 0, rejected: { missing_field: 1 }, ...about });
    await story.record({ kind: 'rejected_events', letters: [letter], dropped: 2, ...about });
    return letter;
  }
  const stored = async () => {
    const ids: string[] = [];
    for (let partition = 0; partition < 16; partition++)
      for await (const record of story.harness.operations.log.read(`ingest.${partition}`, { limit: 1000 })) ids.push(record.id);
    return ids;
  };

  test('are found by messageId, listed and counted by reason', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Rejecting' })).id;
    const letter = await reject(pipeline, 'bad-1');
    const shown = {
      event_id: 'bad-1',
      pipeline_id: pipeline,
      status: 'rejected',
      reason: 'missing_field',
      message: 'event is required.',
      received_at: letter.created_at,
      raw: { type: 'track', messageId: 'bad-1', userId: 'u-1' },
      truncated: false,
      dead_letter_id: letter.id,
    };
    expect(await story.got('events/bad-1')).toEqual(shown);
    expect(await story.got(`events?status=rejected&pipeline_id=${pipeline}`)).toMatchObject({ events: [shown], total: 1 });
    expect(await story.got(`events?status=processed&pipeline_id=${pipeline}`)).toMatchObject({ events: [], total: 0 });
    expect((await story.got(`stats?pipeline_id=${pipeline}`)).totals).toMatchObject({
      rejected: 1,
      rejected_by_reason: { missing_field: 1 },
      rejected_dropped: 2,
      received: 0,
      dead_lettered: 0,
    });
    const dead = await story.got(`dlq/${letter.id}`);
    expect(dead).toMatchObject({ stage: 'ingest', event: { raw: shown.raw, message: shown.message } });
    expect(JSON.stringify(dead), 'the client’s address is for the replay only').not.toContain('203.0.113.9');
  });

  test('the list of rejected events applies every filter, or names the one that it cannot apply', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Filtered' })).id;
    const at = Date.now() - 3_600_000;
    await reject(pipeline, 'f-1', { messageId: 'f-1', userId: 'u-7', anonymousId: 'a-7' }, { at });
    await reject(pipeline, 'f-2', { messageId: 'f-2', userId: 'u-8' }, { at: at + 60_000, reason: 'validation_failed' });
    await reject(pipeline, 'f-3', 'no JSON', { at: at + 120_000, reason: 'invalid_json' });
    const found = async (filter: string) => {
      const { events, total } = await story.got(`events?status=rejected&pipeline_id=${pipeline}&${filter}`);
      expect(total, filter).toBe(events.length);
      return events.map(({ event_id }) => event_id);
    };
    expect(await found('')).toEqual(['f-3', 'f-2', 'f-1']);
    expect(await found('reason=validation_failed')).toEqual(['f-2']);
    expect(await found('user_id=u-7')).toEqual(['f-1']);
    expect(await found('anonymous_id=a-7')).toEqual(['f-1']);
    expect(await found(`from=${iso(at + 60_000)}`)).toEqual(['f-3', 'f-2']);
    expect(await found(`to=${iso(at + 60_000)}`)).toEqual(['f-2', 'f-1']);
    expect(await found(`from=${iso(at + 1)}&reason=missing_field`)).toEqual([]);
    for (const name of ['event', 'integration_id', 'delivery', 'cursor'])
      expect(await story.refusal('GET', `events?status=rejected&${name}=${name === 'delivery' ? 'delivered' : 'x'}`)).toEqual([
        422,
        'VALIDATION_ERROR',
        name,
      ]);
    expect(await story.refusal('GET', 'events?status=rejected&from=2026-05-02&to=2026-05-01')).toEqual([422, 'VALIDATION_ERROR', 'to']);
  });

  test('are replayed once they are corrected', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Correcting' })).id;
    const letter = await reject(pipeline, 'bad-2');
    const replay = (body?: object) => story.call('POST', `dlq/${letter.id}/replay`, body);
    expect(await replay()).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('event is required.') } } });
    expect(await replay({ event: { type: 'track' } })).toMatchObject({ status: 422 });
    expect(await replay({ event: 'no object' })).toMatchObject({ status: 422 });
    expect(await replay({ event: { type: 'track', event: 'Fixed' } })).toMatchObject({ status: 202, body: { replayed: 1 } });
    expect((await stored()).filter((id) => id.endsWith(':bad-2'))).toHaveLength(1);
    expect(await story.got(`events?status=rejected&pipeline_id=${pipeline}`)).toMatchObject({ total: 0 });
    expect(await story.got(`dlq/${letter.id}`)).toMatchObject({ status: 'replayed' });
  });

  test('with a number that cannot be kept exactly show its digits, also under privacy rules, and are refused again', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Exact' })).id;
    const raw = '{"type":"track","event":"X","messageId":"bad-4","properties":{"total":9007199254740993,"email":"a@b.test"}}';
    const letter = await reject(pipeline, 'bad-4', raw, { inexact: true });
    expect((await story.got('events/bad-4')).raw).toBe(raw);
    const { status, body } = await story.call('POST', `dlq/${letter.id}/replay`);
    const message = 'properties.total is a number that cannot be kept exactly: send it as a string.';
    expect([status, body]).toMatchObject([409, { error: { message: expect.stringContaining(message) } }]);
    const { config } = await story.got('data-layer');
    await story.put('data-layer', { config: { pii_rules: { fields: [{ path: 'properties.email', action: 'redact' }] } } });
    const kept = String((await story.got('events/bad-4')).raw);
    const shown = JSON.parse(kept) as { properties: { email: string } };
    expect([shown.properties.email, kept]).toEqual(['[redacted]', expect.stringContaining('9007199254740993')]);
    await story.put('data-layer', { config: { pii_rules: config.pii_rules } });
  });

  test('of a refused sender are replayed once the pipeline allows it, and show the sender', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Guarded', domain_allowlist: ['shop.example'] })).id;
    const sender = { origin: 'https://www.shop.example', address: '203.0.113.9' };
    const raw = { type: 'track', event: 'X', userId: 'u-1' };
    const letter = await reject(pipeline, 'guarded-1', raw, { reason: 'origin_not_allowed', sender });
    expect((await story.got('events/guarded-1')).sender).toEqual(sender);
    expect((await story.got(`dlq/${letter.id}`)).event).toMatchObject({ sender });
    const replay = (id: string, body?: object) => story.call('POST', `dlq/${id}/replay`, body);
    const refused = (text: RegExp) => ({ status: 409, body: { error: { message: expect.stringMatching(text) } } });
    const notListed = refused(/^This event cannot be replayed: its origin https:\/\/www\.shop\.example is not on the domain allowlist/);
    expect(await replay(letter.id)).toMatchObject(notListed);
    expect(await replay(letter.id, { event: raw }), 'a corrected event does not change its sender').toMatchObject(notListed);
    expect((await story.call('POST', 'dlq/replay', { pipeline_id: pipeline })).body).toEqual({ replayed: 0 });
    await story.put(`pipelines/${pipeline}`, { domain_allowlist: ['*.shop.example'] });
    expect(await replay(letter.id)).toMatchObject({ status: 202 });
    const unsigned = await reject(pipeline, 'guarded-2', raw, { reason: 'invalid_signature', sender: { signature: 'invalid' } });
    expect(await replay(unsigned.id)).toMatchObject(refused(/never be replayed/));
  });

  test('are not replayed into a disabled pipeline', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Disabled later' })).id;
    const letter = await reject(pipeline, 'bad-3');
    await story.put(`pipelines/${pipeline}`, { enabled: false });
    const replay = () => story.call('POST', `dlq/${letter.id}/replay`, { event: { type: 'track', event: 'Fixed' } });
    expect(await replay()).toMatchObject({ status: 409, body: { error: { message: expect.stringMatching(/deleted or disabled/) } } });
    expect((await stored()).filter((id) => id.endsWith(':bad-3'))).toEqual([]);
    await story.put(`pipelines/${pipeline}`, { enabled: true });
    expect(await replay()).toMatchObject({ status: 202 });
  });

  test('of other stages cannot be corrected', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const letter = await deadLetter(story, pipeline, { integration_id: integration });
    expect(await story.call('POST', `dlq/${letter.id}/replay`, { event: { type: 'track', event: 'X' } })).toMatchObject({ status: 422 });
  });
});

onStory('dead letters', (story) => {
  test('show every field of the contract, and are listed newest first by each filter', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const now = Date.now();
    const first = await deadLetter(story, pipeline, { integration_id: integration, created_at: iso(now - 2 * DAY) });
    const second = await deadLetter(story, pipeline, { integration_id: integration, stage: 'mapping', created_at: iso(now - DAY) });
    const third = await deadLetter(story, pipeline, { webhook_source_id: 'whs_1', stage: 'webhook' });
    const shown = { ...first, status: 'pending' };
    expect(await story.got(`dlq/${first.id}`)).toEqual(shown);
    const ids = async (query: string) => (await story.got(`dlq?${query}`)).dead_letters.map(({ id }) => id);
    expect(await ids(`pipeline_id=${pipeline}`)).toEqual([third.id, second.id, first.id]);
    expect(await ids(`integration_id=${integration}`)).toEqual([second.id, first.id]);
    expect(await ids('webhook_source_id=whs_1')).toEqual([third.id]);
    expect(await ids(`pipeline_id=${pipeline}&stage=mapping`)).toEqual([second.id]);
    expect(await ids(`pipeline_id=${pipeline}&from=${iso(now - 1.5 * DAY)}`)).toEqual([third.id, second.id]);
    expect(await ids(`pipeline_id=${pipeline}&from=${iso(now - 1.5 * DAY)}&to=${iso(now - DAY / 2)}`)).toEqual([second.id]);
    const day = first.created_at.slice(0, 10);
    expect(await ids(`pipeline_id=${pipeline}&from=${day}&to=${day}`), 'a date is the whole day').toEqual([first.id]);
    const page = await story.got(`dlq?pipeline_id=${pipeline}&limit=1&offset=2`);
    expect(page).toEqual({ dead_letters: [shown], total: 3, limit: 1, offset: 2 });
    expect((await story.got('dlq?limit=500')).limit).toBe(100);
  });

  test('of a disabled integration stay pending, because it would drop them', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const letter = await deadLetter(story, pipeline, { integration_id: integration });
    const path = `pipelines/${pipeline}/integrations/${integration}`;
    const replay = async () => (await story.call('POST', 'dlq/replay', { integration_id: integration })).body;
    await story.put(path, { enabled: false });
    expect(await replay()).toEqual({ replayed: 0 });
    expect(await story.refusal('POST', `dlq/${letter.id}/replay`)).toEqual([409, 'CONFLICT']);
    expect((await story.got(`dlq/${letter.id}`)).status).toBe('pending');
    await story.put(path, { enabled: true });
    expect(await replay()).toEqual({ replayed: 1 });
  });

  test.each([
    ['stage', 'stage=lost'],
    ['from', 'from=yesterday'],
    ['from', 'from=2026-02-30T00:00:00Z'],
    ['to', 'to=2026-01-01T23:59:60Z'],
    ['to', 'from=2026-02-01&to=2026-01-01'],
    ['limit', 'limit=-1'],
    ['offset', 'offset=1.5'],
  ])('name the fault at %s (%s)', async (field, query) => {
    expect(await story.refusal('GET', `dlq?${query}`)).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  test('of another organisation are unknown to every route', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { id } = await deadLetter(story, pipeline, { integration_id: integration });
    for (const [method, path] of [
      ['GET', `dlq/${id}`],
      ['POST', `dlq/${id}/replay`],
      ['DELETE', `dlq/${id}`],
    ] as const)
      expect(await story.refusal(method, path, undefined, story.stranger), `${method} ${path}`).toEqual([404, 'NOT_FOUND']);
    expect((await story.stranger('GET', `dlq?integration_id=${integration}`)).body.total).toBe(0);
    for (const body of [{ integration_id: integration }, { pipeline_id: pipeline }, { integration_id: integration, dry_run: true }])
      expect(await story.refusal('POST', 'dlq/replay', body, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect((await story.got(`dlq/${id}`)).status).toBe('pending');
  });

  test('expire', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { id } = await deadLetter(story, pipeline, { integration_id: integration, expires_at: iso(Date.now() - 1) });
    expect(await story.refusal('GET', `dlq/${id}`)).toEqual([404, 'NOT_FOUND']);
    expect((await story.got(`dlq?integration_id=${integration}`)).total).toBe(0);
  });

  test('one is replayed to its integration only, and marked as replayed', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const letter = await deadLetter(story, pipeline, { integration_id: integration });
    const entry = await story.audited(async () => {
      const { status, body } = await story.call('POST', `dlq/${letter.id}/replay`);
      expect([status, body]).toEqual([202, { replayed: 1 }]);
    });
    expect(entry).toMatchObject({
      action: 'dead_letter.replayed',
      resource_id: letter.id,
      changes: { status: { old: 'pending', new: 'replayed' } },
    });
    expect((await replayed(story, integration)).map(({ event, meta }) => [event, meta.pipeline_id])).toEqual([[letter.event, pipeline]]);
    expect((await story.got(`dlq/${letter.id}`)).status).toBe('replayed');
    expect((await story.got(`dlq?integration_id=${integration}&status=pending`)).total).toBe(0);
  });

  test('many are replayed by integration; a dry run only counts them', async () => {
    const { pipeline, integration, template } = await newIntegration(story);
    const now = Date.now();
    for (const created of [now - 3 * DAY, now - 2 * DAY, now])
      await deadLetter(story, pipeline, { integration_id: integration, created_at: iso(created) });
    await deadLetter(story, pipeline, { integration_id: integration, stage: 'mapping' });
    await deadLetter(story, pipeline, { integration_id: 'int_that_is_gone' });
    await story.made(`integration-templates/${template}/revisions`, { config: { url: 'https://hooks.example/v2' } });
    const replay = async (body: object) => {
      const answer = await story.call('POST', 'dlq/replay', body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      return answer.body.replayed;
    };
    expect(await replay({ integration_id: integration, dry_run: true })).toBe(4);
    expect(await replay({ pipeline_id: pipeline, dry_run: true }), 'what is gone cannot be sent').toBe(4);
    expect(await replayed(story, integration)).toEqual([]);
    expect(await replay({ integration_id: integration, from: iso(now - 2.5 * DAY), to: iso(now - DAY) })).toBe(1);
    expect(await replay({ integration_id: integration, stage: 'mapping', use_revision: 'latest' })).toBe(1);
    expect((await replayed(story, integration)).map(({ meta }) => meta.revision_number)).toEqual([undefined, 2]);
    expect(await replay({ pipeline_id: pipeline, limit: 1, dry_run: true })).toBe(1);
    expect(await replay({ pipeline_id: pipeline, limit: 1 })).toBe(1);
    expect(await replay({ pipeline_id: pipeline }), 'what is still pending').toBe(1);
    expect(await replay({ pipeline_id: pipeline })).toBe(0);
    const entry = await story.audited(() => replay({ integration_id: integration, dry_run: true }));
    expect(entry).toMatchObject({ action: 'dead_letter.replayed', resource_id: integration, changes: { dry_run: { new: true } } });
  });

  test.each([
    [{}, [400, 'MISSING_FIELD', 'integration_id']],
    [{ stage: 'mapping' }, [400, 'MISSING_FIELD', 'integration_id']],
    [{ integration_id: 'a', pipeline_id: 'b' }, [422, 'VALIDATION_ERROR', 'pipeline_id']],
    [{ integration_id: 'int_nobody' }, [404, 'NOT_FOUND']],
    [{ pipeline_id: 'pl_nobody' }, [404, 'NOT_FOUND']],
    [{ webhook_source_id: 'whs_nobody' }, [404, 'NOT_FOUND']],
    [{ integration_id: 5 }, [422, 'VALIDATION_ERROR', 'integration_id']],
    [{ pipeline_id: 'a', from: 'soon' }, [422, 'VALIDATION_ERROR', 'from']],
    [{ pipeline_id: 'a', use_revision: 'oldest' }, [422, 'VALIDATION_ERROR', 'use_revision']],
    [{ pipeline_id: 'a', dryrun: true }, [422, 'VALIDATION_ERROR', 'dryrun']],
  ])('a replay of %j is refused', async (body, expected) => {
    expect(await story.refusal('POST', 'dlq/replay', body)).toEqual(expected);
  });

  test('of a deleted integration or pipeline stay, and replaying one gives the reason', async () => {
    const [gone, dead] = [await newIntegration(story), await newIntegration(story)];
    const ofGone = await deadLetter(story, gone.pipeline, { integration_id: gone.integration });
    const ofDead = await deadLetter(story, dead.pipeline, { integration_id: dead.integration });
    const earlier = await deadLetter(story, dead.pipeline, { stage: 'processing' });
    await story.call('DELETE', `pipelines/${gone.pipeline}/integrations/${gone.integration}`);
    await story.call('DELETE', `pipelines/${dead.pipeline}`);
    for (const { id } of [ofGone, ofDead, earlier]) {
      expect(await story.refusal('POST', `dlq/${id}/replay`)).toEqual([409, 'CONFLICT']);
      expect((await story.got(`dlq/${id}`)).status).toBe('pending');
    }
    const { status, body } = await story.call('POST', 'dlq/replay', { integration_id: gone.integration });
    expect([status, body], 'its letters are known').toEqual([202, { replayed: 0 }]);
  });

  test('replayed twice at the same moment are sent once; a later replay sends them again', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { id } = await deadLetter(story, pipeline, { integration_id: integration });
    const { log, observe } = story.harness.operations;
    const read = async () => (await findDeadLetter(observe, story.org.org_id, id, Date.now()))!;
    const deps = { log, observe, now: Date.now, latestRevision: async () => 1, reingest: async () => [] };
    // What two admin processes do: both have read it before either marks it.
    const [mine, yours] = [await read(), await read()];
    expect(await replayLetters(deps, [mine])).toBe(1);
    expect(await replayLetters(deps, [yours])).toBe(1);
    expect(await replayed(story, integration)).toHaveLength(1);
    expect((await story.call('POST', `dlq/${id}/replay`)).body).toEqual({ replayed: 1 });
    expect(await replayed(story, integration)).toHaveLength(2);
  });

  test('that fail again at once are not sent once more by the same replay (it never ended)', async () => {
    const { pipeline, integration } = await newIntegration(story);
    for (let n = 0; n < 3; n++) await deadLetter(story, pipeline, { integration_id: integration });
    const { observe } = story.harness.operations;
    let sent = 0;
    // A vendor that refuses at once. The next page finds the new dead letter behind the old ones.
    const append = async () => {
      if (++sent === 5) throw new Error('the replay goes on with what has failed again');
      await deadLetter(story, pipeline, { integration_id: integration, created_at: iso(Date.now() + 1_000) });
      return [];
    };
    const log = { ...story.harness.operations.log, append };
    const deps = { log, observe, now: Date.now, latestRevision: async () => 1, reingest: async () => [] };
    const filter = { org_id: story.org.org_id, integration_id: integration };
    expect(await replayDeadLetters(deps, { filter })).toBe(3);
    const { dead_letters } = await story.got(`dlq?integration_id=${integration}&status=pending`);
    expect(dead_letters).toHaveLength(1);
  });

  test('of stage processing are replayed through ingest', async () => {
    const { pipeline } = await newIntegration(story);
    const letter = await deadLetter(story, pipeline, { stage: 'processing' });
    expect((await story.call('POST', `dlq/${letter.id}/replay`)).body).toEqual({ replayed: 1 });
    expect((await story.got(`dlq/${letter.id}`)).status).toBe('replayed');
  });

  test('rejected webhooks are verified again, with the current secret and the time of receipt', async () => {
    const { pipeline } = await newIntegration(story);
    const { id: source } = await story.made('webhook-sources', {
      pipeline_id: pipeline,
      name: 'Payments',
      source_type: 'payment_processor',
      signing_secret: 'the-wrong-secret-at-first',
    });
    const receivedAt = Date.now() - 3 * DAY;
    const body = JSON.stringify({
      id: 'evt_1',
      type: 'charge.succeeded',
      created: Math.floor(receivedAt / 1000),
      data: { object: { id: 'ch_1' } },
    });
    const time = Math.floor(receivedAt / 1000);
    const signature = createHmac('sha256', 'the-right-secret').update(`${time}.${body}`).digest('hex');
    const letter = await deadLetter(story, pipeline, {
      webhook_source_id: source,
      stage: 'webhook',
      reason: 'signature failed',
      created_at: iso(receivedAt),
      event: { headers: { 'stripe-signature': `t=${time},v1=${signature}` }, body, received_at: iso(receivedAt) },
    });
    expect(await story.refusal('POST', `dlq/${letter.id}/replay`)).toEqual([409, 'CONFLICT']);
    expect((await story.call('POST', 'dlq/replay', { webhook_source_id: source, dry_run: true })).body).toEqual({ replayed: 0 });
    await story.put(`webhook-sources/${source}`, { signing_secret: 'the-right-secret' });
    expect((await story.call('POST', 'dlq/replay', { webhook_source_id: source, dry_run: true })).body).toEqual({ replayed: 1 });
    expect((await story.call('POST', 'dlq/replay', { webhook_source_id: source })).body).toEqual({ replayed: 1 });
    expect((await story.got(`dlq/${letter.id}`)).status).toBe('replayed');
  });

  test('the digest of a shared secret is masked, packed bytes are left out', async () => {
    const { pipeline } = await newIntegration(story);
    const headers = { 'x-token': 'digest-of-secret:0123', 'x-old': 'sha256-of-secret:4567', 'x-topic': 'orders' };
    const event = { headers, body: '{}', body_base64: 'H4sI', received_at: iso(Date.now()) };
    const letter = await deadLetter(story, pipeline, { webhook_source_id: 'whs_masked', stage: 'webhook', event });
    const { body_base64: _bytes, ...shown } = { ...event, headers: { 'x-token': '••••', 'x-old': '••••', 'x-topic': 'orders' } };
    expect((await story.got(`dlq/${letter.id}`)).event).toEqual(shown);
    expect((await story.got('dlq?webhook_source_id=whs_masked')).dead_letters[0]?.event).toEqual(shown);
  });

  // They were shown in plain, whatever the rules detect.
  test('rejected webhooks are shown under the privacy rules that need no mapped event', async () => {
    const { pipeline } = await newIntegration(story);
    const { config } = await story.got('data-layer');
    const fields = [{ path: '**.phone', action: 'redact' }];
    const rules = { fields, detect: ['email'], detect_action: 'redact', url_params: ['token'] };
    const body = '{"id":9007199254740993,"mail":"to ada@shop.example","customer":{"phone":5551234}}';
    const request = {
      headers: { 'x-from': 'ada@shop.example' },
      query: { mail: 'ada@shop.example' },
      urls: ['https://in.example/?token=t&a=1'],
    };
    const kept = (text: string) => {
      const event = { ...request, body: text, received_at: iso(Date.now()) };
      return deadLetter(story, pipeline, { webhook_source_id: 'whs_private', stage: 'webhook', event });
    };
    const [json, text] = [await kept(body), await kept('no JSON, ada@shop.example')];
    expect((await story.got(`dlq/${json.id}`)).event).toMatchObject({ ...request, body });
    await story.put('data-layer', { config: { pii_rules: rules } });
    const covered = { headers: { 'x-from': '[redacted]' }, query: { mail: '[redacted]' }, urls: ['https://in.example/?a=1'] };
    const shown = '{"id":9007199254740993,"mail":"to [redacted]","customer":{"phone":"[redacted]"}}';
    expect((await story.got(`dlq/${json.id}`)).event).toMatchObject({ ...covered, body: shown });
    expect((await story.got(`dlq/${text.id}`)).event).toMatchObject({ ...covered, body: 'no JSON, [redacted]' });
    expect(await story.got(`events/${json.id}`)).toMatchObject({ status: 'rejected', raw: { ...covered, body: shown } });
    await story.put('data-layer', { config: { pii_rules: { ...rules, fields: [{ path: 'properties', action: 'drop' }] } } });
    expect((await story.got(`dlq/${json.id}`)).event).toMatchObject({ headers: {}, body: expect.not.stringContaining('ada') });
    await story.put('data-layer', { config: { pii_rules: config.pii_rules } });
  });

  test('rejected webhooks are not replayed into a disabled source or pipeline', async () => {
    const { pipeline } = await newIntegration(story);
    const { id: source } = await story.made('webhook-sources', {
      pipeline_id: pipeline,
      name: 'Form',
      source_type: 'custom',
      signature_method: 'none',
      mappings: { event: "'Form Sent'" },
    });
    const event = { headers: {}, body: '{}', received_at: iso(Date.now()) };
    const letter = await deadLetter(story, pipeline, { webhook_source_id: source, stage: 'webhook', event });
    const replay = () => story.call('POST', `dlq/${letter.id}/replay`);
    const refused = { status: 409, body: { error: { message: expect.stringMatching(/pipeline or integration is deleted or disabled/) } } };
    await story.put(`webhook-sources/${source}`, { enabled: false });
    expect(await replay()).toMatchObject(refused);
    await story.put(`webhook-sources/${source}`, { enabled: true });
    await story.put(`pipelines/${pipeline}`, { enabled: false });
    expect(await replay()).toMatchObject(refused);
    expect((await story.call('POST', 'dlq/replay', { webhook_source_id: source })).body).toEqual({ replayed: 0 });
    await story.put(`pipelines/${pipeline}`, { enabled: true });
    expect(await replay()).toMatchObject({ status: 202 });
  });

  test('are for viewers to read, editors to replay, admins to delete', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { id, event_id } = await deadLetter(story, pipeline, { integration_id: integration });
    const [viewer, editor, admin] = [await story.as('viewer'), await story.as('editor'), await story.as('admin')];
    expect((await viewer('GET', `dlq/${id}`)).status).toBe(200);
    expect(await story.refusal('POST', `dlq/${id}/replay`, undefined, viewer)).toEqual([403, 'FORBIDDEN']);
    expect(await story.refusal('POST', 'dlq/replay', { integration_id: integration }, viewer)).toEqual([403, 'FORBIDDEN']);
    expect((await editor('POST', `dlq/${id}/replay`)).status).toBe(202);
    expect(await story.refusal('DELETE', `dlq/${id}`, undefined, editor)).toEqual([403, 'FORBIDDEN']);
    const entry = await story.audited(async () => expect((await admin('DELETE', `dlq/${id}`)).status).toBe(204));
    expect(entry).toMatchObject({ action: 'dead_letter.deleted', resource_id: id, changes: { event_id: { old: event_id, new: null } } });
    expect(await story.refusal('GET', `dlq/${id}`)).toEqual([404, 'NOT_FOUND']);
  });
});

onStory('replay of history', (story) => {
  test('sends retained events of the time and names asked for to that one integration', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { log } = story.harness.operations;
    const append = async (type: 'track' | 'page', name: string) => {
      const event_id = `history-${++made}`;
      const event = { event_id, type, event: name, timestamp: iso(Date.now()), context: {} };
      const meta = { received_at: Date.now(), org_id: story.org.org_id, pipeline_id: pipeline };
      await log.append([
        { topic: eventsTopic(pipeline), records: [{ id: eventRecordId(pipeline, event_id), data: encodeEventRecord(meta, event) }] },
      ]);
    };
    for (const [type, name] of [
      ['track', 'A'],
      ['track', 'B'],
      ['page', 'Home'],
    ] as const)
      await append(type, name);
    const path = `pipelines/${pipeline}/integrations/${integration}/replay`;
    const range = { from: iso(Date.now() - DAY), to: iso(Date.now() + DAY) };
    const replay = async (more: object) => (await story.call('POST', path, { ...range, ...more })).body;
    expect(await replay({ dry_run: true })).toEqual({ replayed: 3 });
    expect(await replayed(story, integration)).toEqual([]);
    const entry = await story.audited(async () => expect(await replay({ event_names: ['B', '@page'] })).toEqual({ replayed: 2 }));
    expect(entry).toMatchObject({
      action: 'integration.replayed',
      resource_id: integration,
      changes: { event_names: { new: ['B', '@page'] } },
    });
    expect((await replayed(story, integration)).map(({ event }) => event.event)).toEqual(['B', 'Home']);
    expect(await replay({ event_names: [], dry_run: true }), 'no names mean every event').toEqual({ replayed: 3 });
    expect(await replay({ event_ids: [`history-${made}`, 'history-nobody'], dry_run: true }), 'one event by its id').toEqual({
      replayed: 1,
    });
    // Nothing was sent of such an event: its record names the replay too.
    const event = { event_id: 'history-dead', type: 'track', event: 'A', timestamp: iso(Date.now()), context: {} } as const;
    const meta = { received_at: Date.now(), org_id: story.org.org_id, pipeline_id: pipeline };
    const record = { id: eventRecordId(pipeline, event.event_id, 'dlq_1'), data: encodeEventRecord(meta, event) };
    await log.append([{ topic: eventsTopic(pipeline), records: [record] }]);
    expect(await replay({ event_ids: ['history-dead'] }), 'of a replayed dead letter').toEqual({ replayed: 1 });
    expect((await replayed(story, integration)).at(-1)?.event.event_id).toBe('history-dead');
    expect(await replay({ from: iso(Date.now() - 3 * DAY), to: iso(Date.now() - 2 * DAY) })).toEqual({ replayed: 0 });
    expect(await story.refusal('POST', path, { from: range.from })).toEqual([400, 'MISSING_FIELD', 'to']);
    expect(await story.refusal('POST', path, { from: range.to, to: range.from })).toEqual([422, 'VALIDATION_ERROR', 'to']);
    expect(await story.refusal('POST', path, { from: 'then', to: 'now' })).toEqual([422, 'VALIDATION_ERROR', 'from']);
    expect(await story.refusal('POST', path, { ...range, names: [] })).toEqual([422, 'VALIDATION_ERROR', 'names']);
    const tooLong = { event_ids: ['x'.repeat(255), 'x'.repeat(256)], event_names: ['x'.repeat(1_025)] };
    for (const [name, items] of Object.entries(tooLong))
      expect(await story.refusal('POST', path, { ...range, [name]: items }), `${name} of any length were stored in the audit log`).toEqual([
        422,
        'VALIDATION_ERROR',
        `${name}[${items.length - 1}]`,
      ]);
    expect(await story.refusal('POST', path, range, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('POST', path, range, await story.as('viewer'))).toEqual([403, 'FORBIDDEN']);
  });

  test('a page of large dead letters ends at 2 MB; a replay in pages of bytes sends them all', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const event_id = `large-letter-${n}`;
      const event = {
        event_id,
        type: 'track' as const,
        event: 'Large',
        timestamp: iso(0),
        context: {},
        properties: { text: 'x'.repeat(900_000) },
      };
      const at = Date.now() + n;
      ids.push(
        (await deadLetter(story, pipeline, { id: newId('dlq', at), created_at: iso(at), integration_id: integration, event_id, event })).id,
      );
    }
    const seen: string[] = [];
    const sizes: number[] = [];
    while (seen.length < ids.length) {
      const page = await story.got(`dlq?integration_id=${integration}&limit=100&offset=${seen.length}`);
      expect(page.total).toBe(ids.length);
      sizes.push(page.dead_letters.length);
      seen.push(...page.dead_letters.map(({ id }) => id));
    }
    expect(seen).toEqual([...ids].reverse());
    expect(sizes).toEqual([2, 2, 1]);
    const answer = await story.call('POST', 'dlq/replay', { integration_id: integration });
    expect([answer.status, answer.body.replayed]).toEqual([202, ids.length]);
    expect(await replayed(story, integration)).toHaveLength(ids.length);
  });
});
