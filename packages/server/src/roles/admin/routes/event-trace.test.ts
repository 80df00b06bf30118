import { encodeEnvelope, type IngestEnvelope } from '@firsthand/core/event/envelope.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../../event-record.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { aboutEvent, attempt, iso, newIntegration, T0 } from '../testing/outcomes.ts';
import { onStory } from '../testing/story.ts';

onStory('an event', (story) => {
  test('is explained: the retained event, each decision, each attempt', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const at = Date.now() + 60_000;
    const event = {
      event_id: 'x1',
      type: 'track' as const,
      event: 'Order Completed',
      timestamp: iso(at),
      context: {},
      properties: { total: 42 },
    };
    const meta = { received_at: at, org_id: story.org.org_id, pipeline_id: pipeline };
    const records = [{ id: eventRecordId(pipeline, 'x1'), data: encodeEventRecord(meta, event) }];
    const [stored] = await story.harness.operations.log.append([{ topic: eventsTopic(pipeline), records }]);
    const of = aboutEvent(story, pipeline, 'x1', { at });
    await story.record(
      { kind: 'processed', received_at: at - 5, decisions: [{ step: 'bots', result: 'human' }], stored: stored!.positions[0]!, ...of },
      { kind: 'retrying', integration_id: integration, attempt: attempt(503, 'http_503'), due_at: at + 1000, ...of, at: at + 1 },
      {
        kind: 'delivered',
        integration_id: integration,
        revision_number: 2,
        attempt: { ...attempt(200), answer: '{"ok":true}' },
        received_at: at - 5,
        duration_ms: 40,
        ...of,
        at: at + 2,
      },
    );
    const trace = await story.got('events/x1');
    expect(trace).toMatchObject({ event_id: 'x1', pipeline_id: pipeline, status: 'processed', received_at: iso(at - 5), event });
    expect(trace.steps.map(({ stage, status, result }) => [stage, status ?? result])).toEqual([
      ['received', undefined],
      ['processing', 'human'],
      ['processed', undefined],
      ['retrying', 503],
      ['delivered', 200],
    ]);
    expect(trace.deliveries).toEqual([
      {
        integration_id: integration,
        name: 'Hook',
        vendor: 'webhook',
        status: 'delivered',
        reason: null,
        explanation: expect.any(String),
        revision_number: 2,
        attempts: [
          // An earlier version recorded no revision.
          { at: iso(at + 1), status: 503, error: 'http_503', duration_ms: 12, answer: null, revision_number: null },
          { at: iso(at + 2), status: 200, error: null, duration_ms: 12, answer: '{"ok":true}', revision_number: 2 },
        ],
      },
    ]);
    const { events } = await story.got(`events?pipeline_id=${pipeline}`);
    expect(events[0]!.event).toEqual(event);
    expect(events[0]!.deliveries, 'an answer is no reason').toEqual([{ integration_id: integration, status: 'delivered', reason: null }]);
  });

  // Its deliveries had an id only: nobody knows which integration that was.
  test('names an integration that was deleted since, or whose pipeline was', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const of = aboutEvent(story, pipeline, 'to-a-deleted-one');
    await story.record(
      { kind: 'processed', received_at: T0, decisions: [], ...of },
      { kind: 'delivered', integration_id: integration, attempt: attempt(200), received_at: T0, duration_ms: 40, ...of },
    );
    for (const path of [`pipelines/${pipeline}/integrations/${integration}`, `pipelines/${pipeline}`]) {
      expect((await story.call('DELETE', path)).status).toBeLessThan(300);
      const { deliveries } = await story.got('events/to-a-deleted-one');
      expect(deliveries).toMatchObject([{ integration_id: integration, name: 'Hook', vendor: 'webhook', status: 'delivered' }]);
    }
  });

  test('is run again only while what came in is retained, for those who may see it', async () => {
    const { pipeline } = await newIntegration(story);
    const { log } = story.harness.operations;
    const record = async (event_id: string, raw?: { topic: string; position: string }) =>
      await story.record({
        kind: 'processed',
        received_at: T0,
        decisions: [],
        ...(raw && { raw }),
        ...aboutEvent(story, pipeline, event_id),
      });
    await record('run-untraced');
    await record('run-expired', { topic: 'ingest.0', position: '9999999999' });
    const came = async (event_id: string, text: string) => {
      const data = encodeEnvelope(
        { v: 1, org_id: story.org.org_id, pipeline_id: pipeline, event_id, received_at: T0, source: 'server' } as IngestEnvelope,
        Buffer.from(JSON.stringify({ type: 'track', event: 'Large', properties: { text } })),
      );
      const [stored] = await log.append([{ topic: 'ingest.0', records: [{ id: eventRecordId(pipeline, event_id), data }] }]);
      await record(event_id, { topic: 'ingest.0', position: stored!.positions[0]! });
    };
    await came('run-large', 'x'.repeat(70_000));
    await came('run-grown', 'x');
    const changes = (id: string) => story.got(`events/${id}/changes`);
    expect(await changes('run-untraced')).toEqual({ unavailable: 'not_retained', same: false, steps: [] });
    expect(await changes('run-expired')).toMatchObject({ unavailable: 'not_retained' });
    expect(await changes('run-large')).toMatchObject({ unavailable: 'too_large' });
    expect(await changes('run-grown')).toMatchObject({ unavailable: null });
    const rules = [{ type: 'set', target: 'properties.text', value: 'x'.repeat(300_000) }];
    await story.made(`pipelines/${pipeline}/transformations`, { name: 'Grow', kind: 'rules', rules });
    expect(await changes('run-grown'), 'what steps made of a small event held the loop for seconds').toMatchObject({
      unavailable: 'too_large',
    });
    const get = vi.spyOn(log, 'get').mockRejectedValue(new LogUnavailable('away'));
    onTestFinished(() => get.mockRestore());
    expect(await changes('run-large')).toMatchObject({ unavailable: 'log_unavailable' });
    expect(await story.refusal('GET', 'events/nobody/changes')).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', 'events/run-large/changes', undefined, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect((await (await story.as('viewer'))('GET', 'events/run-untraced/changes')).status).toBe(200);
  });

  test('says of each integration why it did not get there: dropped or failed before routing, or too early for it', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const at = Date.now() + 60_000;
    const of = (id: string, when = at) => aboutEvent(story, pipeline, id, { at: when });
    const letter = {
      id: 'dlq_why',
      org_id: story.org.org_id,
      pipeline_id: pipeline,
      integration_id: null,
      webhook_source_id: null,
      vendor: null,
      revision_number: null,
      event_id: 'why-failed',
      stage: 'processing' as const,
      event: { event_id: 'why-failed', type: 'track' as const, timestamp: iso(at), context: {} },
      attempts: [],
      reason: 'transformation trf_1: boom',
      created_at: iso(at),
      expires_at: iso(at + 86_400_000),
    };
    await story.record(
      { kind: 'dropped', reason: 'bot', received_at: at, decisions: [], ...of('why-bot') },
      { kind: 'dead_lettered', dead_letter: letter, ...of('why-failed') },
      { kind: 'processed', received_at: T0, decisions: [], ...of('why-early', T0) },
    );
    const fate = async (id: string) => (await story.got(`events/${id}`)).deliveries;
    const to = { integration_id: integration, attempts: [] };
    expect(await fate('why-bot')).toMatchObject([{ ...to, status: 'dropped', reason: 'bot', explanation: expect.stringMatching(/bot/) }]);
    expect(await fate('why-failed')).toMatchObject([
      { ...to, status: 'dead_lettered', reason: letter.reason, explanation: expect.stringMatching(/could not be processed .*boom/) },
    ]);
    expect(await story.got('events/why-failed'), 'the event is kept in its dead letter').toMatchObject({ event: letter.event });
    expect(await fate('why-early')).toMatchObject([{ ...to, status: 'not_routed', reason: null }]);
  });

  test('of one id in several pipelines: the newest, or the one of the pipeline asked for; none of a stranger’s', async () => {
    const [one, two] = [await newIntegration(story), await newIntegration(story)];
    await story.record(
      { kind: 'processed', received_at: T0, decisions: [], ...aboutEvent(story, one.pipeline, 'shared') },
      { kind: 'processed', received_at: T0 + 1, decisions: [], ...aboutEvent(story, two.pipeline, 'shared') },
    );
    expect((await story.got('events/shared')).pipeline_id).toBe(two.pipeline);
    expect((await story.got(`events/shared?pipeline_id=${one.pipeline}`)).pipeline_id).toBe(one.pipeline);
    expect(await story.refusal('GET', 'events/shared?pipeline_id=pl_nobody')).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', 'events/shared', undefined, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', 'events/nobody')).toEqual([404, 'NOT_FOUND']);
  });
});
