import { expect, test } from 'vitest';
import { onStory } from '../testing/story.ts';

const EVENT = { type: 'track', event: 'Order Completed', properties: { total: 42 } };

onStory('test cases', (story) => {
  test('are saved, listed newest first by pipeline, read and deleted; the audit log keeps no event', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Shop' })).id;
    const other = (await story.made('pipelines', { name: 'Other' })).id;
    const shared = await story.made('test-cases', { name: 'Shared', event: EVENT });
    expect(shared).toMatchObject({ name: 'Shared', event: EVENT, pipeline_id: null, created_by: story.org.owner.id });
    const entry = await story.audited(() => story.made('test-cases', { name: 'Of the shop', event: EVENT, pipeline_id: pipeline }));
    expect(entry).toMatchObject({ action: 'test_case.created', changes: { name: { new: 'Of the shop' } } });
    expect(JSON.stringify(entry)).not.toContain('Order Completed');
    const names = async (query: string) => (await story.got(`test-cases?${query}`)).test_cases.map(({ name }) => name);
    expect(await names('')).toEqual(['Of the shop', 'Shared']);
    expect(await names(`pipeline_id=${other}`)).toEqual(['Shared']);
    expect(await story.got(`test-cases/${shared.id}`)).toEqual(shared);
    expect((await story.call('DELETE', `test-cases/${shared.id}`)).status).toBe(204);
    expect(await story.refusal('GET', `test-cases/${shared.id}`)).toEqual([404, 'NOT_FOUND']);
  });

  test('a page of large test cases ends at 2 MB, and none is lost', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Large' })).id;
    const names = ['0', '1', '2', '3', '4'];
    for (const name of names)
      await story.made('test-cases', { name, event: { ...EVENT, properties: { text: 'x'.repeat(900_000) } }, pipeline_id: pipeline });
    const { total } = await story.got(`test-cases?pipeline_id=${pipeline}&limit=1`);
    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let offset = 0; ; ) {
      const page = await story.got(`test-cases?pipeline_id=${pipeline}&limit=100&offset=${offset}`);
      expect(page.total).toBe(total);
      if (page.test_cases.length === 0) break;
      sizes.push(page.test_cases.length);
      seen.push(...page.test_cases.map(({ name }) => name));
      offset += page.test_cases.length;
    }
    expect(seen.slice(0, names.length)).toEqual([...names].reverse());
    expect(sizes.slice(0, 2)).toEqual([2, 2]);
  });

  test.each([
    '{"half":',
    `{"half": "${'x'.repeat(200_000)}`,
  ])('one whose event cannot be read is listed without it: %.10s', async (event) => {
    const made = await story.made('test-cases', { name: 'Damaged', event: EVENT });
    await story.harness.store.db.updateTable('test_cases').set({ event }).where('id', '=', made.id).execute();
    expect((await story.got('test-cases?limit=1')).test_cases).toEqual([{ ...made, event: {} }]);
    expect(await story.got(`test-cases/${made.id}`)).toEqual({ ...made, event: {} });
  });

  test.each([
    [400, 'MISSING_FIELD', 'name', { event: EVENT }],
    [400, 'MISSING_FIELD', 'event', { name: 'A' }],
    [422, 'VALIDATION_ERROR', 'event', { name: 'A', event: [] }],
    [422, 'VALIDATION_ERROR', 'pipline_id', { name: 'A', event: EVENT, pipline_id: 'pl_x' }],
    [404, 'NOT_FOUND', undefined, { name: 'A', event: EVENT, pipeline_id: 'pl_nobody' }],
  ])('answer %i %s at %s', async (status, code, field, body) => {
    expect(await story.refusal('POST', 'test-cases', body)).toEqual([status, code, ...(field === undefined ? [] : [field])]);
  });
});
