import { expect, test } from 'vitest';
import { onStory } from './testing/story.ts';

onStory('a change with If-Match', (story) => {
  const newPipeline = () => story.made('pipelines', { name: 'Edited by two' });
  const change = async (path: string, body: object, match: string) => {
    const { status, body: answer } = await story.call('PUT', path, body, { 'if-match': match });
    return status === 409 ? answer.error.code : status;
  };
  /** Both read; the second writer must not replace what the first wrote. */
  async function twoEdit(path: string, body: (text: string) => object, version: string): Promise<void> {
    expect(await change(path, body('first'), version)).toBe(200);
    expect(await change(path, body('second'), version)).toBe('CONFLICT');
    expect(JSON.stringify(await story.got(path))).toContain('first');
    expect(await change(path, body('third'), '*')).toBe(200);
  }

  test('of a pipeline is rejected if somebody else changed it', async () => {
    const { id, updated_at } = await newPipeline();
    await twoEdit(`pipelines/${id}`, (name) => ({ name }), String(updated_at));
  });

  test('of an integration is rejected if somebody else changed it', async () => {
    const { id: source_id } = await newPipeline();
    const config = { url: 'https://hooks.example/in' };
    const { id, updated_at } = await story.made('integrations', { source_id, vendor: 'webhook', name: 'Edited by two', config });
    await twoEdit(`pipelines/${source_id}/integrations/${id}`, (name) => ({ name }), String(updated_at));
  });

  test('of the organisation is rejected if somebody else changed it', async () => {
    const { updated_at } = await story.got('organisation');
    await twoEdit('organisation', (name) => ({ name }), String(updated_at));
  });

  test('of a transformation is rejected if somebody else changed it', async () => {
    const { id } = await newPipeline();
    const { id: transformation, updated_at } = await story.made(`pipelines/${id}/transformations`, {
      name: 'Code',
      kind: 'code',
      code: 'function transform(event) { return event; }',
    });
    await twoEdit(`pipelines/${id}/transformations/${transformation}`, (name) => ({ name }), `"${updated_at}"`);
  });

  test('of a tracking plan is rejected if somebody else changed it, also if it was empty', async () => {
    const path = `pipelines/${(await newPipeline()).id}/tracking-plan`;
    const version = async () => String((await story.call('GET', path)).headers.etag);
    const body = (description: string) => ({ events: { Seen: { type: 'object', description } } });
    expect(await version()).toBe('"0"');
    await twoEdit(path, body, await version());
    const written = await story.call('PUT', path, body('fourth'));
    expect(written.headers.etag).toBe(await version());
    await twoEdit(path, body, await version());
  });

  test('of a user is rejected if somebody else changed it', async () => {
    const { id, updated_at } = await story.made('users', { email: 'two@example.com', password: 'correct horse battery' });
    await twoEdit(`users/${id}`, (name) => ({ name }), String(updated_at));
  });

  test('of a template is rejected if somebody else changed it', async () => {
    const { template } = await story.made('integration-catalog/webhook/install', { name: 'Named by two' });
    await twoEdit(`integration-templates/${template.id}`, (name) => ({ name }), String(template.updated_at));
  });

  test('of a template is rejected if another revision was added', async () => {
    const { template } = await story.made('integration-catalog/webhook/install', {
      name: 'Two editors',
      config: { url: 'https://hooks.example/in' },
    });
    const path = `integration-templates/${template.id}/revisions`;
    const add = async (match: string) =>
      (await story.call('POST', path, { config: { url: 'https://hooks.example/other' } }, { 'if-match': match })).status;
    expect([await add('1'), await add('1'), await add('2')]).toEqual([201, 409, 201]);
  });
});
