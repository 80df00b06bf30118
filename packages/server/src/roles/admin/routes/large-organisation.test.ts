/** Lists that an organisation with hundreds of pipelines can page and search. */
import { expect, test } from 'vitest';
import { type Loose, onStory, type Story } from '../testing/story.ts';

const LIST = { limit: 50, offset: 0 };
const names = (list: Loose): string[] => list.map(({ name }) => String(name));

async function integration(story: Story, name: string, by = story.call): Promise<Loose> {
  const pipeline = await story.made('pipelines', { name: `Shop of ${name}` }, by);
  return await story.made(
    'integrations',
    { source_id: pipeline.id, vendor: 'webhook', name, config: { url: 'https://hooks.example' } },
    by,
  );
}

onStory('the lists of a large organisation', (story) => {
  test('integrations of all pipelines are listed oldest first, with the name of their pipeline, in pages', async () => {
    const made = [];
    for (const name of ['Meta Nord', 'Meta Süd', 'Warehouse']) made.push(await integration(story, name));
    const all = await story.got('integrations');
    expect(all).toMatchObject({ ...LIST, total: 3 });
    expect(names(all.integrations)).toEqual(['Meta Nord', 'Meta Süd', 'Warehouse']);
    expect(all.integrations[0]).toMatchObject({ pipeline_name: 'Shop of Meta Nord', health: { status: 'ok' }, vendor: 'webhook' });
    const second = await story.got('integrations?limit=1&offset=1');
    expect([names(second.integrations), second.total]).toEqual([['Meta Süd'], 3]);

    expect(names((await story.got('integrations?search=meta')).integrations)).toEqual(['Meta Nord', 'Meta Süd']);
    expect(names((await story.got(`integrations?search=${encodeURIComponent('Süd')}`)).integrations)).toEqual(['Meta Süd']);
    expect((await story.got('integrations?search=%25')).total, 'a wildcard is a letter').toBe(0);
    expect((await story.got('integrations?vendor=webhook&search=ware')).total).toBe(1);
    expect((await story.got('integrations?vendor=google_analytics_4')).total).toBe(0);
    expect(names((await story.got(`integrations?template_id=${made[2]?.template_id}`)).integrations)).toEqual(['Warehouse']);
    expect(names((await story.got(`integrations?ids=${made[2]?.id},${made[0]?.id},int_unknown`)).integrations)).toEqual([
      'Meta Nord',
      'Warehouse',
    ]);
    expect(names((await story.got(`integrations?pipeline_ids=${made[1]?.pipeline_id},pl_unknown`)).integrations)).toEqual(['Meta Süd']);
  });

  test('pages of large transformations, sources and filters end at 2 MB: a hundred of them held the loop for a second', async () => {
    const { id: pipeline_id } = await story.made('pipelines', { name: 'Large' });
    const text = 'x'.repeat(900_000);
    const steps = `pipelines/${pipeline_id}/transformations`;
    const ids: string[] = [];
    const { template_id } = await integration(story, 'Filtered');
    const event_filter = { event_names: Array.from({ length: 1_000 }, (_, i) => String(i).padStart(500, 'x')) };
    const mappings = Object.fromEntries(Array.from({ length: 490 }, (_, i) => [`properties.p${i}`, `'${'x'.repeat(950)}'`]));
    for (const name of ['A', 'B', 'C']) {
      const rules = [{ type: 'set', target: 'properties.text', value: text }];
      ids.push((await story.made(steps, { name, kind: 'rules', rules })).id);
    }
    for (let n = 0; n < 5; n++) {
      await story.made('webhook-sources', { pipeline_id, name: 'Source', source_type: 'crm', mappings });
      await story.made(`pipelines/${pipeline_id}/integrations`, { template_id, event_filter });
    }
    const page = async (path: string, list: string) => {
      const answer = await story.got(path);
      return [(answer[list] as Loose).length, answer.total];
    };
    expect(await page(steps, 'transformations')).toEqual([2, 3]);
    expect(await page(`${steps}?offset=2`, 'transformations')).toEqual([1, 3]);
    expect(await page(`webhook-sources?pipeline_id=${pipeline_id}`, 'webhook_sources')).toEqual([4, 5]);
    expect(await page(`pipelines/${pipeline_id}/integrations`, 'integrations')).toEqual([3, 5]);
    expect(await page(`integrations?pipeline_ids=${pipeline_id}`, 'integrations')).toEqual([3, 5]);
    const ordered = await story.put(`${steps}/order`, { ids: ids.toReversed() });
    expect(ordered, 'the answer to a new order is the first page of the list, not all of up to 100 MB').toMatchObject({
      transformations: [{ id: ids[2] }, { id: ids[1] }],
      total: 3,
      limit: 100,
      offset: 0,
    });
  });

  test('a removed integration and those of a deleted pipeline are not listed', async () => {
    const [removed, orphan] = [await integration(story, 'Gone'), await integration(story, 'Gone with its pipeline')];
    await story.call('DELETE', `pipelines/${removed.pipeline_id}/integrations/${removed.id}`);
    await story.call('DELETE', `pipelines/${orphan.pipeline_id}`);
    expect((await story.got('integrations?search=gone')).total).toBe(0);
  });

  test('no list shows or finds what belongs to another organisation', async () => {
    const theirs = await integration(story, 'Foreign', story.stranger);
    const source = await story.made(
      'webhook-sources',
      { name: 'Foreign', pipeline_id: theirs.pipeline_id, source_type: 'crm' },
      story.stranger,
    );
    for (const path of [
      `integrations?ids=${theirs.id}`,
      `integrations?pipeline_ids=${theirs.pipeline_id}`,
      `integrations?template_id=${theirs.template_id}`,
      'integrations?search=foreign',
      `pipelines?ids=${theirs.pipeline_id}`,
      `webhook-sources?pipeline_id=${theirs.pipeline_id}`,
      'webhook-sources?search=foreign',
      `webhook-sources?ids=${source.id}`,
    ])
      expect((await story.got(path)).total, path).toBe(0);
    expect((await story.stranger('GET', 'webhook-sources?search=FOREIGN')).body).toMatchObject({
      total: 1,
      webhook_sources: [{ id: source.id }],
    });
  });

  test('a token for some pipelines sees only their integrations, whatever it asks for', async () => {
    const [own, other] = [await integration(story, 'Own'), await integration(story, 'Not for the token')];
    const { token } = (await story.made('api-tokens', { name: 'CI', role: 'viewer', pipeline_ids: [own.pipeline_id] })) as unknown as {
      token: string;
    };
    const list = async (path: string) => (await story.harness.call('GET', path, { token })).body as unknown as Loose;
    expect(names((await list('integrations')).integrations)).toEqual(['Own']);
    expect((await list(`integrations?ids=${other.id}`)).total).toBe(0);
    expect((await list(`integrations?pipeline_ids=${other.pipeline_id}`)).total).toBe(0);
    expect((await list(`pipelines?ids=${other.pipeline_id}`)).total).toBe(0);
    expect((await list(`pipelines?ids=${other.pipeline_id},${own.pipeline_id}`)).total).toBe(1);
  });

  test('pipelines are found by their ids; more than 100, or none, are refused', async () => {
    const ids = [];
    for (const name of ['One', 'Two']) ids.push((await story.made('pipelines', { name })).id);
    expect((await story.got(`pipelines?ids=${ids.join(',')},${ids[0]}`)).total).toBe(2);
    const many = Array.from({ length: 101 }, (_, at) => `pl_${at}`).join(',');
    for (const path of [`pipelines?ids=${many}`, 'pipelines?ids=,', `integrations?ids=${many}`])
      expect(await story.refusal('GET', path)).toEqual([422, 'VALIDATION_ERROR', 'ids']);
    expect(await story.refusal('GET', `integrations?pipeline_ids=${many}`)).toEqual([422, 'VALIDATION_ERROR', 'pipeline_ids']);
  });

  test('users are found by name and address, sources by name', async () => {
    const password = 'correct horse battery staple';
    await story.made('users', { email: 'ada@lists.example', name: 'Ada Lovelace', role: 'viewer', password });
    await story.made('users', { email: 'grace@lists.example', name: 'Grace', role: 'viewer', password });
    const found = async (search: string) =>
      ((await story.got(`users?search=${encodeURIComponent(search)}`)) as unknown as { users: Loose[] }).users.map(({ email }) => email);
    expect(await found('LOVE')).toEqual(['ada@lists.example']);
    expect(await found('lists.example')).toEqual(['grace@lists.example', 'ada@lists.example']);
    expect(await found('nobody')).toEqual([]);
    const pipeline = await story.made('pipelines', { name: 'Inbound' });
    for (const name of ['Orders', 'Payments']) await story.made('webhook-sources', { name, pipeline_id: pipeline.id, source_type: 'crm' });
    const sources = (await story.got('webhook-sources?search=pay')).webhook_sources!;
    expect(names(sources)).toEqual(['Payments']);
    expect(names((await story.got(`webhook-sources?ids=${sources[0]!.id},whs_gone`)).webhook_sources)).toEqual(['Payments']);
  });
});
