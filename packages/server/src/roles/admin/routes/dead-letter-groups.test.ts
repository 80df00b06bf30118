import { expect, test } from 'vitest';
import { about, aDeadLetter, newIntegration } from '../testing/outcomes.ts';
import { onStory } from '../testing/story.ts';

onStory('dead letters by cause', (story) => {
  test('are counted by integration and reason, with first and last; a reason narrows list and replay', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const start = story.harness.clock.now();
    const letter = (reason: string, at: number) => {
      const event = { ...about(story, pipeline), at };
      return {
        kind: 'dead_lettered' as const,
        dead_letter: aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at, reason }),
        ...event,
      };
    };
    await story.record(letter('http_500', start), letter('http_500', start + 60_000), letter('http_401', start + 1_000));
    const { groups, total } = await story.got(`dlq/groups?integration_id=${integration}`);
    expect(total).toBe(2);
    expect(groups).toMatchObject([
      {
        integration_id: integration,
        pipeline_id: pipeline,
        stage: 'delivery',
        reason: 'http_500',
        count: 2,
        pending: 2,
        first_at: new Date(start).toISOString(),
        last_at: new Date(start + 60_000).toISOString(),
      },
      { reason: 'http_401', count: 1 },
    ]);
    expect((await story.got('dlq/groups?limit=1&offset=1')).groups).toMatchObject([{ reason: 'http_401' }]);
    expect((await story.got(`dlq?integration_id=${integration}&reason=http_401`)).total).toBe(1);
    const replay = async (body: object) => (await story.call('POST', 'dlq/replay', { integration_id: integration, ...body })).body.replayed;
    expect([await replay({ dry_run: true }), await replay({ dry_run: true, reason: 'http_401' })]).toEqual([3, 1]);
    expect([await replay({ reason: 'http_401' }), await replay({ dry_run: true })]).toEqual([1, 2]);
    expect((await story.got(`dlq/groups?status=pending`)).groups).toMatchObject([{ reason: 'http_500', pending: 2 }]);
    expect((await story.stranger('GET', 'dlq/groups')).body.total).toBe(0);
  });

  test('the statistics of a time count the letters that list, causes and replay have of it', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const now = story.harness.clock.now();
    const failed = (at: number, change: object, more: object = {}) => {
      const event = { ...about(story, pipeline), at };
      const letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
      return { kind: 'dead_lettered' as const, dead_letter: { ...letter, ...change }, ...event, ...more };
    };
    const rejected = failed(now, { integration_id: null, stage: 'ingest', reason: 'validation_failed' });
    await story.record(
      failed(now, {}),
      failed(now, {}, { replay: true }),
      failed(now, { integration_id: null, stage: 'processing', reason: 'code_failed' }),
      failed(now - 7_200_000, {}),
      { kind: 'rejected_events', letters: [rejected.dead_letter], dropped: 0, ...about(story, pipeline), at: now },
    );
    const hour = `pipeline_id=${pipeline}&from=${new Date(now - 3_600_000).toISOString()}&to=${new Date(now).toISOString()}`;
    const { totals } = await story.got(`stats?${hour}`);
    expect([totals.dead_lettered, totals.dead_lettered_again]).toEqual([2, 1]);
    const which = `${hour}&stages=processing,mapping,delivery`;
    expect([(await story.got(`dlq?${which}`)).total, (await story.got(`dlq?${hour}`)).total]).toEqual([3, 4]);
    const { groups } = await story.got(`dlq/groups?${which}`);
    expect(groups.map(({ stage, count }) => [stage, count])).toEqual([
      ['delivery', 2],
      ['processing', 1],
    ]);
    const body = { integration_id: integration, stages: 'delivery,mapping', from: new Date(now - 3_600_000).toISOString(), dry_run: true };
    expect((await story.call('POST', 'dlq/replay', body)).body).toEqual({ replayed: 2 });
    expect((await story.call('GET', 'dlq?stages=delivery,nowhere')).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'stages' }],
    });
  });

  test('an estimate counts nothing for an integration that cannot take them', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const event = { ...about(story, pipeline), at: story.harness.clock.now() };
    await story.record({
      kind: 'dead_lettered',
      dead_letter: aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at: event.at }),
      ...event,
    });
    await story.put(`pipelines/${pipeline}/integrations/${integration}`, { enabled: false });
    expect((await story.call('POST', 'dlq/replay', { pipeline_id: pipeline, dry_run: true })).body).toEqual({ replayed: 0 });
  });
});
