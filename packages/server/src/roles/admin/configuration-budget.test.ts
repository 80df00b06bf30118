/** Configurations that stalled every organisation for seconds are refused with the name of the budget, and nothing of them is stored. */
import { expect, test } from 'vitest';
import { onStory } from './testing/story.ts';

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const template = (config: object) => ({ name: 'Hostile', vendor: 'webhook', config: { url: 'https://vendor.example/', ...config } });
const mapped = (event: object) => template({ events: { E: event }, defaults: { action: 'drop' } });
const filters = (count: number) => many(count, (i) => ({ field: 'properties.a', op: 'matches', value: `^[a-z]{${1 + (i % 900)}}x$` }));
const valueMap = Object.fromEntries(many(50_000, (i) => [`k${i}`, 'v']));
const plan = Object.fromEntries(many(3_000, (i) => [`p${i}`, { pattern: `^[a-z]{${1 + (i % 900)}}$` }]));

const TEMPLATES: [name: string, body: object, budget: string][] = [
  ['a template of 7,000 nested blocks', template({ payload_template: '{{#if a}}'.repeat(7_000) }), 'template_tags'],
  ['500 matches filters', mapped({ filter: { any: filters(500) }, mappings: [] }), 'pattern_steps'],
  ['2,000 matches filters', mapped({ filter: { any: filters(2_000) }, mappings: [] }), 'pattern_steps'],
  [
    'thousands of entries that are compiled with a thousand global mappings',
    template({
      global: { mappings: many(1_000, (i) => ({ source: `properties.a${i}`, target: `b${i}` })) },
      events: Object.fromEntries(many(300, (n) => [`E${n}`, many(50, () => ({}))])),
    }),
    'target_parts',
  ],
  ['a value map of 50,000 keys', mapped({ mappings: [{ source: 'properties.a', target: 'a', value_map: valueMap }] }), 'values'],
];

onStory('the budgets of one configuration', (story) => {
  test.each(TEMPLATES)('%s', async (_name, body, budget) => {
    const before = (await story.got('integration-templates')).total;
    const answer = await story.call('POST', 'integration-templates', body);
    expect([answer.status, JSON.stringify(answer.body.error.details)]).toEqual([422, expect.stringContaining(budget)]);
    expect((await story.got('integration-templates')).total).toBe(before);
  });

  test('patterns are compiled only for callers and bodies that may store them', async () => {
    const hostile = { any: filters(500) };
    const details = async (path: string, body: object, token?: string) => {
      const answer = await story.harness.call('POST', path, { body, ...(token !== undefined && { token }) });
      return [answer.status, ...(answer.body.error.details ?? []).map(({ field }) => field)];
    };
    // The budget's own fault names no field.
    expect(await details('auth/login', { email: 'a@example.com', password: 'wrong', hostile })).toEqual([422, 'hostile']);
    expect(await details('integration-templates', { ...template({}), hostile })).toEqual([401]);
    expect(await details('integration-templates', { ...template({}), hostile }, story.org.owner.token)).toEqual([422, 'hostile']);
    expect(await details('integration-templates', mapped({ filter: hostile, mappings: [] }), story.org.owner.token)).toEqual([422, '']);
  });

  test('a tracking plan with 3,000 patterns', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Planned' })).id;
    const path = `pipelines/${pipeline}/tracking-plan`;
    const before = (await story.call('GET', path)).body;
    const answer = await story.call('PUT', path, { events: { E: { properties: plan } } });
    expect([answer.status, JSON.stringify(answer.body.error.details)]).toEqual([422, expect.stringContaining('pattern_steps')]);
    expect((await story.call('GET', path)).body).toEqual(before);
  });
});
