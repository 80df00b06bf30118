import { ORGANISATION_BUDGET } from '@firsthand/core/config/budget.ts';
import { expect, test } from 'vitest';
import { onStory } from './testing/story.ts';

/** The same pattern again and again: each costs its steps, and is compiled once. */
const condition = { field: 'event', op: 'matches', value: '^[a-z]{900}$' };
const rulesOf = (count: number) => [{ type: 'filter', condition: { any: Array.from({ length: count }, () => condition) } }];

onStory('the budget of an organisation', (story) => {
  test('is named when a write exceeds it; reducing and other organisations are not affected', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Large' })).id;
    const path = `pipelines/${pipeline}/transformations`;
    const spent = () => story.harness.operations.snapshots.current().costs.organisations.get(story.org.org_id)?.pattern_steps ?? 0;
    const ids: string[] = [];
    const add = () => story.call('POST', path, { name: `Step ${ids.length}`, kind: 'rules', rules: rulesOf(9) });
    let answer = await add();
    for (; answer.status === 201; answer = await add()) ids.push(answer.body.id);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details[0]?.message).toContain('organisation_pattern_steps');
    expect(ids.length).toBeGreaterThan(5);
    expect(spent()).toBeLessThanOrEqual(ORGANISATION_BUDGET.organisation_pattern_steps);
    expect((await story.got(path)).total).toBe(ids.length);
    const [first] = ids;
    expect((await story.call('PUT', `${path}/${first}`, { name: 'Renamed' })).status).toBe(200);
    expect((await story.call('PUT', `${path}/${first}`, { rules: rulesOf(1) })).status).toBe(200);
    expect((await story.call('PUT', `${path}/${first}`, { rules: rulesOf(9) })).status).toBe(200);
    expect((await story.call('DELETE', `${path}/${first}`)).status).toBe(204);
    expect((await add()).status).toBe(201);
    const foreign = (await story.made('pipelines', { name: 'Other' }, story.stranger)).id;
    const body = { name: 'Step', kind: 'rules', rules: rulesOf(9) };
    expect((await story.stranger('POST', `pipelines/${foreign}/transformations`, body)).status).toBe(201);
  });
});
