import { expect, onTestFinished, test, vi } from 'vitest';
import { about, aDeadLetter, newIntegration } from '../testing/outcomes.ts';
import { type Loose, onStory } from '../testing/story.ts';

onStory('what needs attention', (story) => {
  test('names failing, dead letters and plan violations with what they point to, and nothing of another organisation', async () => {
    expect((await story.got('attention')).items).toEqual([]);
    const { pipeline, integration } = await newIntegration(story);
    const at = story.harness.clock.now();
    const event = { ...about(story, pipeline), at };
    const flagged = { step: 'tracking_plan', result: 'flagged' } as const;
    const allowed = { step: 'tracking_plan', result: 'allowed' } as const;
    await story.record(
      { kind: 'processed', received_at: at, decisions: [flagged], ...event },
      { kind: 'processed', received_at: at, decisions: [allowed], ...event, event_id: 'of a plan that only watches' },
      { kind: 'dead_lettered', dead_letter: aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at }), ...event },
    );
    const { items } = await story.got('attention');
    expect(items.map(({ kind, pipeline_id, integration_id, count }) => [kind, pipeline_id, integration_id, count])).toEqual([
      ['failing', pipeline, integration, null],
      ['dead_letters', pipeline, integration, 1],
      ['plan_violations', pipeline, null, 2],
    ]);
    expect((await story.stranger('GET', 'attention')).body.items).toEqual([]);
  });

  // A transformation that failed for every event was not mentioned anywhere on Home.
  test('names events that failed in processing, which no integration got', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const at = story.harness.clock.now();
    const event = { ...about(story, pipeline), at };
    const letter = {
      ...aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at }),
      integration_id: null,
      stage: 'processing' as const,
    };
    await story.record({ kind: 'dead_lettered', received_at: at, dead_letter: letter, ...event });
    const items = (await story.got('attention')).items.filter(({ pipeline_id }) => String(pipeline_id) === pipeline);
    expect(items).toMatchObject([{ kind: 'dead_letters', severity: 'warning', integration_id: null, count: 1 }]);
    expect(items[0]?.message).toMatch(/^1 event of .* failed in processing in the last 24 hours\.$/);
  });

  test('notices a busy pipeline that went silent, and not one that never was busy', async () => {
    const busy = (await newIntegration(story)).pipeline;
    const quiet = (await newIntegration(story)).pipeline;
    const now = story.harness.clock.now();
    const received = (pipeline: string, hours: number) => {
      const at = now - hours * 3_600_000;
      return { kind: 'processed' as const, received_at: at, decisions: [], ...about(story, pipeline), at };
    };
    await story.record(...Array.from({ length: 15 }, (_, hour) => received(busy, hour + 4)), received(quiet, 5));
    const silent = (await story.got('attention')).items.filter(({ kind }) => String(kind) === 'silent');
    expect(silent.map(({ pipeline_id }) => pipeline_id)).toEqual([busy]);
  });

  test('names a source that cannot read from its broker', async () => {
    const pipeline_id = (await story.made('pipelines', { name: 'Orders' })).id;
    const connection = { brokers: 'kafka.example.com:9093', topic: 'orders' };
    const body = { name: 'Order topic', kind: 'kafka', source_type: 'custom', pipeline_id, connection };
    const { id } = await story.made('webhook-sources', body);
    const last_message_at = new Date(story.harness.clock.now()).toISOString();
    const status = { webhook_source_id: id, lag: null, last_error: 'connection refused', last_message_at };
    const known = vi.spyOn(story.harness.operations, 'sourceStatus');
    onTestFinished(() => known.mockRestore());
    const ofSource = async () => (await story.got('attention')).items.filter(({ webhook_source_id }) => String(webhook_source_id) === id);
    known.mockReturnValue({ ...status, state: 'running' });
    expect(await ofSource()).toEqual([]);
    known.mockReturnValue({ ...status, state: 'failing' });
    const message = 'Order topic cannot read from its broker: connection refused.';
    expect(await ofSource()).toMatchObject([
      { kind: 'failing', severity: 'critical', message, pipeline_id, integration_id: null, since: last_message_at },
    ]);
    expect((await story.stranger('GET', 'attention')).body.items).toEqual([]);
  });

  test('names API tokens that end within 14 days, the first to end first, to the role admin only', async () => {
    const inDays = (days: number) => new Date(story.harness.clock.now() + days * 86_400_000).toISOString();
    const newToken = (name: string, expires_at: string | null) => story.made('api-tokens', { name, role: 'viewer', expires_at });
    await newToken('Next year', inDays(365));
    await newToken('In 15 days', inDays(15));
    await newToken('Forever', null);
    const later = await newToken('Deployment', inDays(13.5));
    const soon = await newToken('Nightly', inDays(0.001));
    const ending = ({ items }: Loose) => items.filter(({ kind }) => String(kind) === 'expiring_token');
    expect(ending(await story.got('attention'))).toEqual([
      {
        kind: 'expiring_token',
        severity: 'warning',
        message: 'The API token Nightly ends in less than a day.',
        pipeline_id: null,
        integration_id: null,
        webhook_source_id: null,
        api_token_id: soon.id,
        count: null,
        since: null,
      },
      expect.objectContaining({ message: 'The API token Deployment ends in 13 days.', api_token_id: later.id }),
    ]);
    expect(ending((await (await story.as('editor'))('GET', 'attention')).body)).toEqual([]);
    expect(ending((await story.stranger('GET', 'attention')).body)).toEqual([]);
    const { token } = await story.made('api-tokens', { name: 'Machine', role: 'admin' });
    const asMachine = async (path: string) => (await story.harness.call('GET', path, { token: String(token) })).body as unknown as Loose;
    expect(ending(await asMachine('attention')), 'a monitor reads them with a token').toHaveLength(2);
    const created = await asMachine('audit-logs?action=api_token.created&limit=1');
    expect(created.audit_logs[0]?.changes, 'the audit log is the same for everybody').toMatchObject({ name: { new: 'Machine' } });
    story.harness.clock.advance(100_000);
    const left = ending(await story.got('attention')).map(({ api_token_id }) => api_token_id);
    expect(left, 'what has ended is no longer announced').toEqual([later.id]);
  });
});
