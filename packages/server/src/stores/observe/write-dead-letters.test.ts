import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { expect, test } from 'vitest';
import { about, aDeadLetter, newIntegration } from '../../roles/admin/testing/outcomes.ts';
import { onStory } from '../../roles/admin/testing/story.ts';

onStory('dead letters of events with fields of their own', (story) => {
  // Rules may add any field. `raw` was taken for that of a rejected event: nothing was recorded any more, of any organisation.
  test.each([
    ['a text', { raw: 'x' }],
    ['an object with ids', { raw: { userId: 'u-raw', anonymousId: 'a-raw' } }],
    ['`raw` and `request`', { raw: {}, request: null }],
    ['inexact text that is no JSON', { raw: '{', inexact: true, request: {} }],
  ])('%s under `raw`', async (_name, fields) => {
    const { pipeline, integration } = await newIntegration(story);
    const at = Date.now();
    const event = { ...about(story, pipeline), at };
    const letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
    const dead_letter = { ...letter, event: { ...letter.event, user_id: 'u-own', ...fields } } as unknown as DeadLetter;
    await story.record({ kind: 'dead_lettered', dead_letter, ...event });
    const { dead_letters } = await story.got(`dlq?pipeline_id=${pipeline}`);
    expect(dead_letters).toMatchObject([{ event_id: event.event_id, stage: 'delivery' }]);
    expect((await story.got(`dlq/${letter.id}`)).event).toMatchObject({ user_id: 'u-own', ...fields });
    const { body } = await story.call('POST', 'privacy/erasure', { user_id: 'u-own' });
    expect(body).toMatchObject({ dead_letters: 1 });
  });
});
