import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { expect, test } from 'vitest';
import { about, aDeadLetter, iso, newIntegration } from '../../roles/admin/testing/outcomes.ts';
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

  // Only the first of these was stored with its visitor: neither an erasure nor a search found the others.
  test.each([
    ['the event', { anonymousId: 'a-1' }, {}],
    ['its context', { context: { anonymousId: 'a-1' } }, {}],
    ['the context of its batch', {}, { context: { anonymousId: 'a-1' } }],
    ['the cookie', {}, { anonymous_id: 'a-1' }],
    ['the previous id of an alias', { previousId: 'a-1' }, {}],
  ])('a rejected event is of the visitor whom %s names', async (_name, fields, request) => {
    const { pipeline, integration } = await newIntegration(story);
    const at = Date.now();
    const { event_id, ...event } = { ...about(story, pipeline), at };
    const rejected = {
      raw: { type: 'track', ...fields },
      message: 'event is missing',
      received_at: iso(at),
      request: { source: 'server', ...request },
    };
    const letter = {
      ...aDeadLetter(story, { pipeline, integration, event_id, at }),
      integration_id: null,
      stage: 'ingest',
      event: rejected,
    } as unknown as DeadLetter;
    const { org_id } = event;
    await story.record({ kind: 'rejected_events', at, org_id, pipeline_id: pipeline, letters: [letter], dropped: 0 });
    const found = await story.got(`events?status=rejected&pipeline_id=${pipeline}&anonymous_id=a-1`);
    expect(found.events).toMatchObject([{ event_id }]);
    expect((await story.call('POST', 'privacy/erasure', { anonymous_id: 'a-1' })).body).toMatchObject({ dead_letters: 1 });
  });
});
