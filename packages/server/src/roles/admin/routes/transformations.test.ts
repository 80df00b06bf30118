import { expect, test, vi } from 'vitest';
import { onStory, type Story } from '../testing/story.ts';

let made = 0;
const newPipeline = async (story: Story): Promise<string> => (await story.made('pipelines', { name: `Pipeline ${++made}` })).id;
const RULES = [{ type: 'set', target: 'properties.seen', value: true }];
const CODE = 'function transform(event, { parameters }) { event.properties.host = parameters.HOST; return event }';

onStory('transformations', (story) => {
  test('of rules and of code have every field, with defaults for missing ones', async () => {
    const pipeline = await newPipeline(story);
    const path = `pipelines/${pipeline}/transformations`;
    const rules = await story.made(path, { name: 'Rules', kind: 'rules', rules: RULES });
    expect(rules).toMatchObject({
      id: expect.stringMatching(/^trf_/),
      org_id: story.org.org_id,
      pipeline_id: pipeline,
      name: 'Rules',
      kind: 'rules',
      rules: RULES,
      code: '',
      event_filter: null,
      enabled: true,
      position: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const more = { event_filter: { event_names: ['@page'] }, enabled: false };
    const code = await story.made(path, { name: 'Code', kind: 'code', code: CODE, ...more });
    expect(code).toMatchObject({ kind: 'code', code: CODE, rules: [], position: 2, ...more });
    expect(await story.got(`${path}/${code.id}`)).toEqual(code);
    expect(await story.got(path)).toEqual({ transformations: [rules, code], total: 2, limit: 50, offset: 0 });
    expect(await story.got(`${path}?limit=1&offset=1`)).toMatchObject({ transformations: [code], total: 2, limit: 1, offset: 1 });
  });

  test.each([
    ['name', { name: undefined }, 400],
    ['kind', { kind: undefined }, 400],
    ['code', { kind: 'code' }, 400],
    ['kind', { kind: 'magic' }, 422],
    ['code', { kind: 'code', code: 'function transform(' }, 422],
    ['rules', { rules: {} }, 422],
    ['rules[0].type', { rules: [{ type: 'explode' }] }, 422],
    ['rules[0].target', { rules: [{ type: 'set', value: 1 }] }, 422],
    ['event_filter.names', { event_filter: { names: [] } }, 422],
    ['enabled', { enabled: 1 }, 422],
    ['order', { order: 3 }, 422],
    ['position', { position: -1 }, 422],
    ['position', { position: 1.5 }, 422],
    ['position', { position: '1' }, 422],
    ['position', { position: 1_000_001 }, 422],
  ])('name the fault at %s (%j)', async (field, fault, status) => {
    const path = `pipelines/${await newPipeline(story)}/transformations`;
    const body = JSON.parse(JSON.stringify({ name: 'Faulty', kind: 'rules', rules: RULES, ...fault }));
    expect(await story.refusal('POST', path, body)).toEqual([status, status === 400 ? 'MISSING_FIELD' : 'VALIDATION_ERROR', field]);
    expect((await story.got(path)).total).toBe(0);
  });

  test('change only the fields that are sent, with one audit entry', async () => {
    const path = `pipelines/${await newPipeline(story)}/transformations`;
    const before = await story.made(path, { name: 'Before', kind: 'rules', rules: RULES, event_filter: { event_names: ['A'] } });
    const entry = await story.audited(() =>
      story.put(`${path}/${before.id}`, { ...before, id: 'trf_other', name: 'After', event_filter: null }),
    );
    expect(entry).toMatchObject({
      action: 'transformation.updated',
      resource_id: before.id,
      changes: { name: { old: 'Before', new: 'After' }, event_filter: { old: { event_names: ['A'] }, new: null } },
    });
    expect(await story.got(`${path}/${before.id}`)).toEqual({
      ...before,
      name: 'After',
      event_filter: null,
      updated_at: expect.any(String),
    });
    expect(await story.refusal('PUT', `${path}/${before.id}`, { kind: 'code' }), 'code without any').toEqual([
      422,
      'VALIDATION_ERROR',
      'code',
    ]);
    expect(await story.refusal('PUT', `${path}/${before.id}`, { nmae: 'x' })).toEqual([422, 'VALIDATION_ERROR', 'nmae']);
  });

  test('are put in order by naming each once', async () => {
    const pipeline = await newPipeline(story);
    const path = `pipelines/${pipeline}/transformations`;
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push((await story.made(path, { name, kind: 'rules', rules: [] })).id);
    const [a, b, c] = ids as [string, string, string];
    const entry = await story.audited(async () => {
      const answer = await story.put(`${path}/order`, { ids: [c, a, b] });
      expect(answer.transformations.map(({ name, position }) => [name, position])).toEqual([
        ['c', 1],
        ['a', 2],
        ['b', 3],
      ]);
    });
    expect(entry).toMatchObject({ action: 'transformation.reordered', changes: { order: { old: [a, b, c], new: [c, a, b] } } });
    expect((await story.got(path)).transformations.map(({ id }) => id)).toEqual([c, a, b]);
    for (const wrong of [[a, b], [a, b, c, c], [a, b, b], [a, b, 'trf_nobody'], []])
      expect(await story.refusal('PUT', `${path}/order`, { ids: wrong }), wrong.join()).toEqual([422, 'VALIDATION_ERROR', 'ids']);
    expect(await story.refusal('PUT', `${path}/order`, {})).toEqual([400, 'MISSING_FIELD', 'ids']);
    await story.call('DELETE', `${path}/${a}`);
    await story.made(path, { name: 'd', kind: 'rules', rules: [] });
    expect(
      (await story.got(path)).transformations.map(({ name }) => name),
      'a new one runs last',
    ).toEqual(['c', 'b', 'd']);
  });

  test('one added after the maximum position shares it and runs last', async () => {
    const path = `pipelines/${await newPipeline(story)}/transformations`;
    const last = await story.made(path, { name: 'last', kind: 'rules', rules: RULES, position: 1_000_000 });
    const added = await story.made(path, { name: 'added', kind: 'rules', rules: RULES });
    expect(added.position).toBe(1_000_000);
    expect(await story.put(`${path}/${added.id}`, added)).toMatchObject({ position: 1_000_000 });
    expect((await story.got(path)).transformations.map(({ id }) => id)).toEqual([last.id, added.id]);
  });

  test('a position that is sent is kept: on creation, on its own, and again in an object sent back', async () => {
    const path = `pipelines/${await newPipeline(story)}/transformations`;
    const add = (name: string, more: object = {}) => story.made(path, { name, kind: 'rules', rules: [], ...more });
    const names = async () => (await story.got(path)).transformations.map(({ name }) => name);
    const last = await add('last', { position: 20 });
    expect(last.position).toBe(20);
    const first = await add('first', { position: 0 });
    await add('after all');
    expect(await names()).toEqual(['first', 'last', 'after all']);
    expect(await story.put(`${path}/${first.id}`, { position: 20 })).toMatchObject({ name: 'first', position: 20 });
    expect(await names(), 'of two with the same the older one is first').toEqual(['last', 'first', 'after all']);
    await story.put(`${path}/${last.id}`, { ...last, name: 'still there' });
    expect(await names()).toEqual(['still there', 'first', 'after all']);
    expect(await story.put(`${path}/${last.id}`, { position: 1_000_000 })).toMatchObject({ position: 1_000_000 });
    expect(await names()).toEqual(['first', 'after all', 'still there']);
  });

  test('belong to one pipeline of one organisation, and go by the roles', async () => {
    const [pipeline, other] = [await newPipeline(story), await newPipeline(story)];
    const path = `pipelines/${pipeline}/transformations`;
    const body = { name: 'Mine', kind: 'rules', rules: [] };
    const [viewer, editor, admin] = [await story.as('viewer'), await story.as('editor'), await story.as('admin')];
    expect(await story.refusal('POST', path, body, viewer)).toEqual([403, 'FORBIDDEN']);
    const { id } = await story.made(path, body, editor);
    expect((await viewer('GET', `${path}/${id}`)).status).toBe(200);
    for (const [method, at] of [
      ['GET', `pipelines/${other}/transformations/${id}`],
      ['PUT', `pipelines/${other}/transformations/${id}`],
      ['DELETE', `pipelines/${other}/transformations/${id}`],
    ] as const)
      expect(await story.refusal(method, at, { name: 'x' }), `${method} under another pipeline`).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', `${path}/${id}`, undefined, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('PUT', `${path}/order`, { ids: [id] }, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('DELETE', `${path}/${id}`, undefined, editor)).toEqual([403, 'FORBIDDEN']);
    const entry = await story.audited(async () => expect((await admin('DELETE', `${path}/${id}`)).status).toBe(204));
    expect(entry).toMatchObject({ action: 'transformation.deleted', resource_id: id, changes: { name: { old: 'Mine', new: null } } });
    expect(await story.refusal('GET', `${path}/${id}`)).toEqual([404, 'NOT_FOUND']);
  });

  test('can be tried: returns the event, its log and the error, and stores nothing', async () => {
    const before = (await story.got('audit-logs')).total;
    const event = { type: 'track', event: 'Tried', properties: { secret: 1 } };
    const attempt = async (body: object) => (await story.call('POST', 'transformations/test', { event, ...body })).body;
    expect(await attempt({ kind: 'rules', rules: [{ type: 'delete', target: 'properties.secret' }] })).toMatchObject({
      event: { event: 'Tried', properties: {} },
      logs: [],
      error: null,
    });
    expect(await attempt({ kind: 'code', code: CODE, parameters: { HOST: 'h' } })).toMatchObject({ event: { properties: { host: 'h' } } });
    expect(await attempt({ kind: 'code', code: 'function transform() { console.log("hi"); return null }' })).toEqual({
      event: null,
      logs: ['hi'],
      error: null,
      duration_ms: expect.any(Number),
    });
    const failed = await attempt({ kind: 'code', code: 'function transform() { throw new Error("no") }' });
    expect([failed.event, failed.error]).toEqual([null, expect.stringContaining('no')]);
    expect(await story.refusal('POST', 'transformations/test', { kind: 'code', code: CODE })).toEqual([400, 'MISSING_FIELD', 'event']);
    expect(await story.refusal('POST', 'transformations/test', { kind: 'code', event })).toEqual([400, 'MISSING_FIELD', 'code']);
    expect((await story.got('audit-logs')).total).toBe(before);
  });

  test('trials and validations of code take the turn of their own organisation', async () => {
    const { sandbox } = story.harness.operations;
    const runs = vi.spyOn(sandbox, 'runFresh');
    const validations = vi.spyOn(sandbox, 'validateCode');
    const body = { kind: 'code', code: CODE };
    for (const call of [story.call, story.stranger]) {
      await call('POST', 'transformations/test', { ...body, event: { type: 'track', event: 'Tried', properties: {} } });
      const { id } = (await call('POST', 'pipelines', { name: `Pipeline ${++made}` })).body;
      expect((await call('POST', `pipelines/${id}/transformations`, { name: 'Code', ...body })).status).toBe(201);
      await call('PUT', 'data-layer', { config: { custom_js: { enabled: true, code: CODE } } });
    }
    const [own, other] = [...new Set(runs.mock.calls.map((args) => args[3]))];
    expect([own, other === own]).toEqual([story.org.org_id, false]);
    expect(validations.mock.calls.map((args) => args[1])).toEqual([own, own, other, other]);
    vi.restoreAllMocks();
  });
});
