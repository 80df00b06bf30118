import { expect, test } from 'vitest';
import { about, aDeadLetter, newIntegration } from '../testing/outcomes.ts';
import { onStory } from '../testing/story.ts';

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
});
