import { addCost, NO_COST, ORGANISATION_BUDGET } from '@firsthand/core/config/budget.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { onStory, type Story, type StoryAnswer } from './testing/story.ts';

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

const LONG = 'x'.repeat(2_000);
const CODE = `// ${LONG}\nfunction transform(event) { return event }`;
const URL = 'https://hooks.example/in';

/** As if the rest of the organisation's configuration left so many characters. `isStale`: as in a process that has not loaded the latest changes. */
function leaveCharacters({ harness, org }: Story, room: number, { isStale = false } = {}): void {
  const { snapshots } = harness.operations;
  const read = snapshots.current.bind(snapshots);
  const first = read();
  const own = (snapshot = first) => snapshot.costs.organisations.get(org.org_id) ?? NO_COST;
  const others = { ...NO_COST, characters: ORGANISATION_BUDGET.organisation_characters - own().characters - room };
  const spy = vi.spyOn(snapshots, 'current').mockImplementation(() => {
    const snapshot = isStale ? first : read();
    const organisations = new Map(snapshot.costs.organisations).set(org.org_id, addCost(own(snapshot), others));
    return { ...snapshot, costs: { ...snapshot.costs, organisations } };
  });
  onTestFinished(() => spy.mockRestore());
}
const refusal = ({ status, body }: StoryAnswer) => [status, String(body.error?.details?.[0]?.message ?? '').split(':')[0]];
const REFUSED = [422, 'exceeds the budget organisation_characters'];

onStory('the characters of an organisation', (story) => {
  test('a thousand configs of a megabyte were held in memory by every process: no way to write more is left open', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Large' })).id;
    const at = `pipelines/${pipeline}`;
    const { template } = await story.made('integration-templates', { name: 'Hook', vendor: 'webhook', config: { url: URL } });
    const integration = (await story.made(`${at}/integrations`, { template_id: template.id })).id;
    const step = (await story.made(`${at}/transformations`, { name: 'Step', kind: 'code', code: CODE.slice(2_004) })).id;
    const source = (await story.made('webhook-sources', { pipeline_id: pipeline, name: 'Source', source_type: 'custom' })).id;
    const config = { url: URL, auth_token: LONG };
    await story.made(`integration-templates/${template.id}/revisions`, { config });
    await story.put(`${at}/integrations/${integration}`, { event_filter: { event_names: ['A'] } });
    const long = { mappings: Object.fromEntries(['a', 'b', 'c'].map((name) => [`properties.${name}`, `'${LONG.slice(0, 900)}'`])) };
    const names = { event_filter: { event_names: Array.from({ length: 10 }, (_, i) => String(i).repeat(300)) } };
    const plan = {
      events: { E: { properties: Object.fromEntries(names.event_filter.event_names.map((name) => [name, { type: 'string' }])) } },
    };
    leaveCharacters(story, 1_500);
    const writes: [method: string, path: string, body: object][] = [
      ['POST', 'pipelines', { name: 'More', parameters: { A: LONG } }],
      ['PUT', at, { parameters: { SECRET_TOKEN: LONG } }],
      ['PUT', at, { identity_config: { vendor_sync: { meta: { note: LONG } } } }],
      ['POST', `${at}/transformations`, { name: 'More', kind: 'code', code: CODE }],
      ['PUT', `${at}/transformations/${step}`, { code: CODE }],
      ['PUT', `${at}/tracking-plan`, plan],
      ['PUT', 'data-layer', { config: { custom_js: { enabled: true, code: CODE } } }],
      ['POST', 'webhook-sources', { pipeline_id: pipeline, name: 'More', source_type: 'custom', ...long }],
      ['PUT', `webhook-sources/${source}`, long],
      ['POST', 'integrations', { source_id: pipeline, vendor: 'webhook', name: 'More', config }],
      ['POST', `${at}/integrations`, { template_id: template.id }],
      ['PUT', `${at}/integrations/${integration}`, { revision_number: 2 }],
      ['PUT', `${at}/integrations/${integration}`, names],
    ];
    for (const [method, path, body] of writes)
      expect(refusal(await story.call(method, path, body)), `${method} ${path} ${JSON.stringify(body).slice(0, 60)}`).toEqual(REFUSED);
    expect((await story.made('integration-templates', { name: 'Unused', vendor: 'webhook', config })).template.name).toBe('Unused');
    await story.put(at, { name: 'Renamed' });
    await story.put(`${at}/integrations/${integration}`, { name: 'Renamed', event_filter: null });
  });

  test('changes that the snapshot does not have yet count too, also those of other processes', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Busy' })).id;
    leaveCharacters(story, 10_000, { isStale: true });
    const body = { name: 'Step', kind: 'code', code: CODE };
    const add = () => story.call('POST', `pipelines/${pipeline}/transformations`, body);
    const answers = await Promise.all(Array.from({ length: 6 }, add));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422, 422]);
    expect(refusal(await add())).toEqual(REFUSED);
  });

  test('a million tiny pieces were within the budget: each counts 1,000 beside its own', async () => {
    const spent = () => story.harness.operations.snapshots.current().costs.organisations.get(story.org.org_id)?.characters ?? 0;
    const before = spent();
    const tiny = (await story.made('pipelines', { name: 'Tiny' })).id;
    expect(spent() - before).toBeGreaterThan(1_000);
    expect(spent() - before, 'without a tracking plan nothing counts for one').toBeLessThan(2_000);
    leaveCharacters(story, 900);
    expect(refusal(await story.call('POST', 'pipelines', { name: 'Tinier' }))).toEqual(REFUSED);
    expect(refusal(await story.call('PUT', `pipelines/${tiny}/tracking-plan`, { events: {} }))).toEqual(REFUSED);
  });
});
