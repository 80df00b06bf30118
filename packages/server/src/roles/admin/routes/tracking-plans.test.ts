import { expect, test } from 'vitest';
import { onStory } from '../testing/story.ts';

const EVENTS = { 'Order Completed': { type: 'object', required: ['total'], properties: { total: { type: 'number' } } } };

onStory('tracking plans', (story) => {
  const newPlan = async () => `pipelines/${(await story.made('pipelines', { name: 'Planned' })).id}/tracking-plan`;

  test('are empty at first, change only the fields that are sent, and reach the pipeline', async () => {
    const path = await newPlan();
    expect(await story.got(path)).toEqual({ events: {}, on_violation: 'allow' });
    expect(await story.put(path, { events: EVENTS })).toEqual({ events: EVENTS, on_violation: 'allow' });
    expect(await story.put(path, { on_violation: 'drop' }), 'what is left out stays').toEqual({ events: EVENTS, on_violation: 'drop' });
    const read = await story.got(path);
    expect(await story.put(path, read)).toEqual(read);
    const loaded = story.harness.operations.snapshots.current().pipelines.get(path.split('/')[1]!);
    expect(loaded).toBeDefined();
    expect(await story.put(path, { events: {} }), 'replaced whole').toEqual({ events: {}, on_violation: 'drop' });
  });

  test.each([
    ['on_violation', { on_violation: 'shout' }],
    ['events', { events: [] }],
    ['events.A', { events: { A: 'a schema' } }],
    [expect.stringMatching(/^events\.A/), { events: { A: { type: 'no such type' } } }],
    [expect.stringMatching(/^events\.A/), { events: { A: { properties: { total: { pattern: '(' } } } } }],
    ['event', { event: {} }],
  ])('name the fault at %s (%j)', async (field, body) => {
    const path = await newPlan();
    expect(await story.refusal('PUT', path, body)).toEqual([422, 'VALIDATION_ERROR', field]);
    expect(await story.got(path)).toEqual({ events: {}, on_violation: 'allow' });
  });

  test('can be changed by editors, are hidden from other organisations, and leave one audit entry each', async () => {
    const path = await newPlan();
    const body = { events: EVENTS, on_violation: 'flag' };
    expect(await story.refusal('PUT', path, body, await story.as('viewer'))).toEqual([403, 'FORBIDDEN']);
    expect(await story.refusal('PUT', path, body, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', path, undefined, story.stranger)).toEqual([404, 'NOT_FOUND']);
    const editor = await story.as('editor');
    const entry = await story.audited(() => editor('PUT', path, body));
    expect(entry).toMatchObject({
      action: 'tracking_plan.updated',
      resource_id: path.split('/')[1],
      changes: { events: { old: {}, new: EVENTS }, on_violation: { old: 'allow', new: 'flag' } },
    });
    await story.call('DELETE', path.replace('/tracking-plan', ''));
    expect(await story.refusal('GET', path)).toEqual([404, 'NOT_FOUND']);
  });
});
