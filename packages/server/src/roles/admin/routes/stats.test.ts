import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { expect, test } from 'vitest';
import { encodeEventRecord, replayTopic } from '../../../event-record.ts';
import { aboutEvent, attempt, iso, LATER, newIntegration } from '../testing/outcomes.ts';
import { onStory } from '../testing/story.ts';

onStory('statistics', (story) => {
  test('fill the gaps of a series for charts, and group by pipeline or integration', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const at = LATER + 86_400_000 * 30;
    const delivered = { kind: 'delivered' as const, integration_id: integration, received_at: at, duration_ms: 40 };
    const attempt = { at: iso(at), status: 200, error: null, duration_ms: 5 };
    await story.record(
      { kind: 'processed', received_at: at, decisions: [], ...aboutEvent(story, pipeline, 'chart', { at }) },
      { ...delivered, attempt, ...aboutEvent(story, pipeline, 'chart', { at }) },
    );
    const range = `from=${iso(at - 3 * 3_600_000)}&to=${iso(at + 3_600_000)}`;
    const filled = await story.got(`stats?pipeline_id=${pipeline}&${range}&fill=true`);
    expect(filled.series.map(({ received }) => received)).toEqual([0, 0, 0, 1, 0]);
    expect((await story.got(`stats?pipeline_id=${pipeline}&${range}`)).series).toHaveLength(1);
    const { groups } = await story.got(`stats?${range}&group_by=pipeline_id&fill=true`);
    expect(groups).toMatchObject([{ id: pipeline, totals: { received: 1, delivered: 1 }, series: { length: 5 } }]);
    const some = async (ids: string) => (await story.got(`stats?${range}&group_by=pipeline_id&pipeline_ids=${ids}`)).groups;
    expect([await some(`pl_other,${pipeline}`), await some('pl_other')]).toMatchObject([[{ id: pipeline }], []]);
    expect((await story.got(`stats?${range}&group_by=integration_id`)).groups).toMatchObject([
      { id: integration, totals: { delivered: 1 } },
    ]);
    expect(await story.refusal('GET', `stats?integration_id=${integration}&group_by=pipeline_id`)).toEqual([
      422,
      'VALIDATION_ERROR',
      'group_by',
    ]);
  });

  test.each([
    '2036-05-01T00:00:00+02:00',
    '2036-05-01T00:00:00.5+02:00',
    '2036-05-01T00:00:00%2b02:00',
    '2036-05-01T00:00+02:00',
  ])('the + of a zone need not be encoded: %s', async (from) => {
    const { series } = await story.got(`stats?from=${from}&to=2036-05-01T00:59:59+02:00&fill=true`);
    expect(series.map(({ time }) => time)).toEqual(['2036-04-30T22:00:00.000Z']);
  });
  test.each([
    '2036-05-01 02:00',
    '2036-05-01T00:00:00  02:00',
    '2036-05-01T00:00:00 2:00',
    '2036-05-01T00:00:00 Z',
  ])('a space is no other part of a time: %s', async (from) =>
    expect(await story.refusal('GET', `stats?from=${from}`)).toEqual([422, 'VALIDATION_ERROR', 'from']));

  test('more groups and intervals than a response may have are refused before any entry is built', async () => {
    const { pipeline } = await newIntegration(story);
    const minute = Math.floor(LATER / 60_000) + 1_000_000;
    const counters = Array.from({ length: 300 }, (_, n) => ({
      org_id: story.org.org_id,
      pipeline_id: pipeline,
      integration_id: `int_many${n}`,
      minute,
      counter: 'delivered',
      n: 1,
    }));
    await story.harness.operations.observe.db.insertInto('counters').values(counters).execute();
    const range = (minutes: number) => `from=${iso((minute - minutes) * 60_000)}&to=${iso(minute * 60_000)}&interval=minute`;
    // 300 series of 10,900 entries take 2.5 GB.
    expect(await story.refusal('GET', `stats?${range(10_900)}&group_by=integration_id&fill=true`)).toEqual([
      422,
      'VALIDATION_ERROR',
      'interval',
    ]);
    const { groups } = await story.got(`stats?${range(10)}&group_by=integration_id&fill=true`);
    expect([groups.length, groups[299]?.series.length, groups[0]?.series.at(-1)?.delivered]).toEqual([300, 11, 1]);
  });

  test('count by interval, and balance for an integration', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const of = (id: string, at = LATER) => aboutEvent(story, pipeline, id, { at });
    const to = { integration_id: integration };
    const letter = {
      id: 'dlq_stats',
      org_id: story.org.org_id,
      pipeline_id: pipeline,
      ...to,
      webhook_source_id: null,
      vendor: 'webhook',
      revision_number: 1,
      event_id: 's3',
      stage: 'delivery' as const,
      event: { event_id: 's3', type: 'track' as const, timestamp: iso(LATER), context: {} },
      attempts: [attempt(500, 'http_500')],
      reason: 'http_500',
      created_at: iso(LATER),
      expires_at: iso(LATER + 86_400_000 * 3650),
    };
    await story.record(
      {
        kind: 'ingest_counts',
        received: 4,
        rejected: { invalid_json: 2, rate_limited: 1 },
        duplicates: 5,
        at: LATER,
        org_id: story.org.org_id,
        pipeline_id: pipeline,
      },
      ...['s1', 's2', 's3'].map((id): Outcome => ({ kind: 'processed', received_at: LATER, decisions: [], ...of(id) })),
      { kind: 'dropped', reason: 'bot', received_at: LATER, ...of('s4') },
      { kind: 'retrying', ...to, attempt: attempt(503, 'http_503'), due_at: LATER, ...of('s1') },
      { kind: 'delivered', ...to, attempt: attempt(200), received_at: LATER, duration_ms: 40, ...of('s1', LATER + 3_600_000) },
      { kind: 'dropped', reason: 'consent_not_granted', ...to, received_at: LATER, ...of('s2') },
      { kind: 'dead_lettered', dead_letter: letter, ...of('s3') },
      { kind: 'delivered', ...to, attempt: attempt(200), received_at: LATER, duration_ms: 40, replay: true, ...of('s3') },
    );
    const range = `from=${iso(LATER - 3_600_000)}&to=${iso(LATER + 7_200_000)}`;
    const { series, totals, waiting } = await story.got(`stats?integration_id=${integration}&${range}`);
    expect(totals).toMatchObject({
      received: 4,
      rejected: 3,
      duplicates: 5,
      processed: 3,
      dropped: { bot: 1, consent_not_granted: 1 },
      delivered: 1,
      retried: 1,
      dead_lettered: 1,
      replayed: 1,
      p50_ms: expect.any(Number),
      p99_ms: expect.any(Number),
    });
    const droppedSum = Object.values(totals.dropped as unknown as Record<string, number>).reduce((sum, n) => sum + n, 0);
    expect(totals.received, 'they balance').toBe(totals.delivered + droppedSum + totals.dead_lettered + waiting);
    expect(series.map(({ time, received, delivered }) => [time, received, delivered])).toEqual([
      ['2036-05-01T10:00:00.000Z', 4, 0],
      ['2036-05-01T11:00:00.000Z', 0, 1],
    ]);
    const backlog = (await story.got(`stats?pipeline_id=${pipeline}&${range}&fill=true&with_waiting=true`)).series;
    expect(backlog.map((entry) => entry.waiting)).toEqual([0, 1, 0, 0]);
    expect((await story.got(`stats?pipeline_id=${pipeline}&${range}&interval=day`)).series.map(({ time }) => time)).toEqual([
      '2036-05-01T00:00:00.000Z',
    ]);
    expect((await story.got(`stats?pipeline_id=${pipeline}&from=2036-05-01&to=2036-05-02&interval=minute`)).series).toHaveLength(2);
    expect((await story.got(`stats?pipeline_id=${pipeline}&from=2036-05-01&to=2036-05-01`)).series, 'a date is the whole day').toHaveLength(
      2,
    );
    expect((await story.got(`stats?pipeline_id=${pipeline}`)).totals.received, 'the last day only').toBe(0);
    expect((await story.stranger('GET', `stats?${range}`)).body.totals.received).toBe(0);
    const early = { received_at: LATER - 86_400_000 * 3650, decisions: [], ...of('s0', LATER - 86_400_000 * 3650) };
    await story.record({ kind: 'processed', ...early }, { kind: 'dropped', reason: 'bot', ...early });
    const since = `from=${iso(early.at)}&to=${iso(LATER + 7_200_000)}&interval=day`;
    expect((await story.got(`stats?integration_id=${integration}&${since}`)).totals, 'nothing from before it was added').toEqual(totals);
    expect((await story.got(`stats?pipeline_id=${pipeline}&${since}`)).totals).toMatchObject({ received: 6, processed: 4 });
  });

  test.each([
    ['from', 'from=yesterday'],
    ['to', 'to=2026-13-01'],
    ['from', 'from=2026-02-30'],
    ['to', 'from=2026-05-02&to=2026-05-01'],
    ['interval', 'interval=second'],
    ['interval', 'from=2020-01-01&to=2026-01-01&interval=minute'],
  ])('name the fault at %s (%s)', async (field, query) => {
    expect(await story.refusal('GET', `stats?${query}`)).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  test('count no replay as waiting: its event was counted when it first came', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { log } = story.harness.operations;
    const topic = replayTopic(integration);
    const meta = { received_at: LATER, org_id: story.org.org_id, pipeline_id: pipeline };
    const event = { event_id: 'again', type: 'track' as const, timestamp: iso(LATER), context: {} };
    await log.append([{ topic, records: [{ id: `${integration}.again`, data: encodeEventRecord(meta, event) }] }]);
    const held = log.consume(topic, integration, { start: 'beginning', maxInFlight: 1, maxBatch: 1 }, async () => undefined);
    expect((await story.got(`pipelines/${pipeline}/integrations/${integration}`)).health.waiting).toBe(1);
    expect((await story.got(`stats?integration_id=${integration}`)).waiting).toBe(0);
    await held.stop();
  });

  test('of a deleted pipeline stay, with the events that ended with it', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const ended = { kind: 'dropped', reason: 'pipeline_deleted', integration_id: integration, received_at: LATER } as const;
    await story.record(
      { kind: 'processed', received_at: LATER, decisions: [], ...aboutEvent(story, pipeline, 'ended', { at: LATER }) },
      { ...ended, ...aboutEvent(story, pipeline, 'ended', { at: LATER }) },
    );
    await story.call('DELETE', `pipelines/${pipeline}`);
    const query = `stats?pipeline_id=${pipeline}&from=${iso(LATER)}&to=${iso(LATER)}`;
    expect((await story.got(query)).totals).toMatchObject({ processed: 1, dropped: { pipeline_deleted: 1 } });
    expect(await story.refusal('GET', query, undefined, story.stranger)).toEqual([404, 'NOT_FOUND']);
  });

  test('show only the organisation’s own events', async () => {
    const [one, two] = [await newIntegration(story), await newIntegration(story)];
    for (const query of [
      'pipeline_id=pl_nobody',
      'integration_id=int_nobody',
      `integration_id=${one.integration}&pipeline_id=${two.pipeline}`,
    ])
      expect(await story.refusal('GET', `stats?${query}`), query).toEqual([404, 'NOT_FOUND']);
    for (const query of [`pipeline_id=${one.pipeline}`, `integration_id=${one.integration}`]) {
      expect(await story.refusal('GET', `stats?${query}`, undefined, story.stranger), query).toEqual([404, 'NOT_FOUND']);
      expect((await story.got(`stats?${query}`)).waiting).toBe(0);
    }
  });
});
