import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { onStory, type Story } from '../testing/story.ts';

const URL = 'https://hooks.example/in';
let made = 0;
async function newTemplate(story: Story, config: object = { url: URL }): Promise<string> {
  return (await story.made('integration-templates', { name: `Template ${++made}`, vendor: 'webhook', config })).template.id;
}
const newPipeline = async (story: Story): Promise<string> => (await story.made('pipelines', { name: `Pipeline ${++made}` })).id;

onStory('integration templates', (story) => {
  test('take what the contract says and answer template and revision 1', async () => {
    const config = { url: URL, headers: { Accept: 'text/plain' } };
    const body = {
      name: 'Hook',
      vendor: 'webhook',
      description: 'Ours',
      config,
      delivery_mode: 'client_side',
      change_summary: 'The first',
    };
    const { template, revision } = await story.made('integration-templates', body);
    expect(template).toMatchObject({ name: 'Hook', vendor: 'webhook', description: 'Ours', catalog_vendor_key: null });
    expect(revision).toMatchObject({
      integration_id: template.id,
      revision_number: 1,
      delivery_mode: 'client_side',
      change_summary: 'The first',
      created_by: story.org.owner.id,
    });
    expect(revision.config).toEqual(config);
    expect(await story.got(`integration-templates/${template.id}`)).toEqual({ ...template, latest_revision: revision, used_by: [] });
    expect(await story.got(`integration-templates/${template.id}/revisions/1`)).toEqual(revision);
  });

  test.each([
    ['a missing name', { name: undefined }, [400, 'MISSING_FIELD', 'name']],
    ['a missing vendor', { vendor: undefined }, [400, 'MISSING_FIELD', 'vendor']],
    ['a missing config', { config: undefined }, [400, 'MISSING_FIELD', 'config']],
    ['a vendor nobody knows', { vendor: 'nobody' }, [422, 'VALIDATION_ERROR', 'vendor']],
    ['a config that is no object', { config: [] }, [422, 'VALIDATION_ERROR', 'config']],
    ['a wrong value', { config: { url: 'no url' } }, [422, 'VALIDATION_ERROR', 'config.url']],
    ['a wrong value beside a missing one', { config: { max_retries: 9 } }, [422, 'VALIDATION_ERROR', 'config.max_retries']],
    [
      'a mapping that does not compile',
      { config: { events: { A: { mappings: [{ target: 'x', source: 'y', transforms: ['nonsense'] }] } } } },
      [422, 'VALIDATION_ERROR', expect.stringMatching(/^config\.events\.A\.mappings\[0\]/)],
    ],
    ['an unknown field', { configuration: {} }, [422, 'VALIDATION_ERROR', 'configuration']],
    [
      'the browser with a secret',
      { delivery_mode: 'client_side', config: { url: URL, auth_token: 'shh' } },
      [422, 'VALIDATION_ERROR', 'delivery_mode'],
    ],
    [
      'the browser for a vendor that forbids it',
      { vendor: 'google_analytics_4', config: {}, delivery_mode: 'client_side' },
      [422, 'VALIDATION_ERROR', 'delivery_mode'],
    ],
  ])('refuse %s', async (_what, fault, expected) => {
    const body = JSON.parse(JSON.stringify({ name: 'Faulty', vendor: 'webhook', config: { url: URL }, ...fault }));
    expect(await story.refusal('POST', 'integration-templates', body)).toEqual(expected);
  });

  test('may be incomplete; assigning or pinning such a revision is 422 and names the fields', async () => {
    const { template } = await story.made('integration-templates', {
      name: 'Half',
      vendor: 'google_analytics_4',
      config: { api_secret: 'x' },
    });
    const pipeline = await newPipeline(story);
    const refused = await story.call('POST', `pipelines/${pipeline}/integrations`, { template_id: template.id });
    expect([refused.status, refused.body.error.details.map(({ field }) => field)]).toEqual([422, ['config.measurement_id']]);
    const complete = { measurement_id: 'G-ABC1234567', api_secret: 'x' };
    await story.made(`integration-templates/${template.id}/revisions`, { config: complete });
    const { id, revision_number } = await story.made(`pipelines/${pipeline}/integrations`, { template_id: template.id });
    expect(revision_number).toBe(2);
    const path = `pipelines/${pipeline}/integrations/${id}`;
    expect(await story.refusal('PUT', path, { revision_number: 1 })).toEqual([422, 'VALIDATION_ERROR', 'config.measurement_id']);
    expect((await story.got(path)).revision_number).toBe(2);
  });

  test('are listed newest first, searched, filtered and paged', async () => {
    for (const name of ['Zebra 100%', 'ÄRGER_x']) await story.made('integration-templates', { name, vendor: 'webhook', config: {} });
    const names = async (query: string) => (await story.got(`integration-templates?${query}`)).templates.map(({ name }) => name);
    expect((await names('')).slice(0, 2)).toEqual(['ÄRGER_x', 'Zebra 100%']);
    expect(await names('search=zEBra')).toEqual(['Zebra 100%']);
    expect(await names('search=%25')).toEqual(['Zebra 100%']);
    expect(await names(`search=${encodeURIComponent('ÄRGER')}`)).toEqual(['ÄRGER_x']);
    expect(await names('vendor=google_analytics_4')).toEqual(['Half']);
    const all = await story.got('integration-templates?limit=1000');
    expect([all.limit, all.offset, all.total]).toEqual([100, 0, all.templates.length]);
    const page = await story.got('integration-templates?limit=1&offset=1');
    expect(page).toEqual({ templates: [all.templates[1]], total: all.total, limit: 1, offset: 1 });
    expect((await story.got('integration-templates?limit=0')).templates).toEqual([]);
    for (const bad of [
      'limit=-1',
      'limit=1.5',
      'limit=x',
      'limit=%20',
      'limit=',
      'limit=0x10',
      'limit=1e1',
      'offset=-1',
      'offset=x',
      'offset=+1',
    ])
      expect(await story.refusal('GET', `integration-templates?${bad}`)).toEqual([422, 'VALIDATION_ERROR', bad.split('=')[0]]);
  });

  test('PUT renames, ignores what is read-only, refuses what is unknown, and leaves the rest', async () => {
    const id = await newTemplate(story);
    const read = await story.got(`integration-templates/${id}`);
    const entry = await story.audited(() =>
      story.put(`integration-templates/${id}`, { ...read, id: 'tpl_x', description: 'Now described' }),
    );
    expect(entry).toMatchObject({
      action: 'template.updated',
      resource_id: id,
      changes: { description: { old: '', new: 'Now described' } },
    });
    expect(Object.keys(entry.changes)).toEqual(['description']);
    expect(await story.got(`integration-templates/${id}`)).toMatchObject({ id, name: read.name, description: 'Now described' });
    expect(await story.refusal('PUT', `integration-templates/${id}`, { config: {} })).toEqual([422, 'VALIDATION_ERROR', 'config']);
    expect(await story.refusal('PUT', `integration-templates/${id}`, { name: '' })).toEqual([422, 'VALIDATION_ERROR', 'name']);
  });

  test('in use cannot be deleted; free, they can, and are gone', async () => {
    const [id, pipeline] = [await newTemplate(story), await newPipeline(story)];
    const { id: integration } = await story.made(`pipelines/${pipeline}/integrations`, { template_id: id });
    expect((await story.got(`integration-templates/${id}`)).used_by).toEqual([pipeline]);
    expect(await story.refusal('DELETE', `integration-templates/${id}`)).toEqual([409, 'CONFLICT']);
    expect((await story.call('DELETE', `pipelines/${pipeline}/integrations/${integration}`)).status).toBe(204);
    expect(await story.refusal('DELETE', `integration-templates/${id}`, undefined, await story.as('editor'))).toEqual([403, 'FORBIDDEN']);
    const entry = await story.audited(async () => {
      const gone = await story.call('DELETE', `integration-templates/${id}`);
      expect([gone.status, gone.body]).toEqual([204, '']);
    });
    expect(entry).toMatchObject({ action: 'template.deleted', resource_id: id });
    for (const path of ['', '/revisions', '/revisions/1'])
      expect(await story.refusal('GET', `integration-templates/${id}${path}`)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('POST', `pipelines/${pipeline}/integrations`, { template_id: id })).toEqual([404, 'NOT_FOUND']);
  });

  test('the refusal named every pipeline of a template in use: it names 20 and counts the others', async () => {
    const id = await newTemplate(story);
    const pipelines: string[] = [];
    for (let n = 0; n < 22; n++) {
      pipelines.push(await newPipeline(story));
      await story.made(`pipelines/${pipelines[n]}/integrations`, { template_id: id });
    }
    const { status, body } = await story.call('DELETE', `integration-templates/${id}`);
    expect([status, body.error.message]).toEqual([
      409,
      `The template is in use by ${pipelines.sort().slice(0, 20).join(', ')} and 2 more.`,
    ]);
  });

  test('of a deleted pipeline are free', async () => {
    const [id, pipeline] = [await newTemplate(story), await newPipeline(story)];
    await story.made(`pipelines/${pipeline}/integrations`, { template_id: id });
    await story.call('DELETE', `pipelines/${pipeline}`);
    expect((await story.got(`integration-templates/${id}`)).used_by).toEqual([]);
    expect((await story.call('DELETE', `integration-templates/${id}`)).status).toBe(204);
  });
});

onStory('revisions', (story, engine) => {
  test('are numbered from 1, listed newest first, and never two of one number', async () => {
    const id = await newTemplate(story);
    const parallel = Array.from({ length: 8 }, (_, n) =>
      story.call('POST', `integration-templates/${id}/revisions`, { config: { url: `${URL}/${n}` } }),
    );
    expect((await Promise.all(parallel)).map(({ status }) => status)).toEqual(Array(8).fill(201));
    const { revisions, total } = await story.got(`integration-templates/${id}/revisions`);
    expect([total, revisions.map(({ revision_number }) => revision_number)]).toEqual([9, [9, 8, 7, 6, 5, 4, 3, 2, 1]]);
    const page = await story.got(`integration-templates/${id}/revisions?limit=2&offset=3`);
    expect(page).toEqual({ revisions: revisions.slice(3, 5), total: 9, limit: 2, offset: 3 });
    expect((await story.got(`integration-templates/${id}`)).latest_revision).toEqual(revisions[0]);
  });

  test('cannot be changed or removed: not by a route', async () => {
    const id = await newTemplate(story);
    for (const method of ['PUT', 'DELETE', 'PATCH', 'POST']) {
      const answer = await story.call(method, `integration-templates/${id}/revisions/1`, { config: {} });
      expect([answer.status, answer.body.error.code, answer.headers.allow], method).toEqual([405, 'METHOD_NOT_ALLOWED', 'GET, HEAD']);
    }
    expect((await story.call('DELETE', `integration-templates/${id}/revisions`)).headers.allow).toBe('GET, HEAD, POST');
  });

  test('cannot be changed or removed: not in the database either', async () => {
    await newTemplate(story);
    const { db } = story.harness.store;
    const before = await db.selectFrom('revisions').selectAll().orderBy('id').execute();
    for (const statement of [
      "update revisions set config = '{}'",
      "update revisions set change_summary = 'x' where revision_number = 1",
      'delete from revisions',
      ...(engine === 'postgres' ? ['truncate revisions cascade'] : []),
    ])
      await expect(sql.raw(statement).execute(db), statement).rejects.toThrow(/immutable/);
    expect(await db.selectFrom('revisions').selectAll().orderBy('id').execute()).toEqual(before);
  });

  test('that never were are 404', async () => {
    const id = await newTemplate(story);
    for (const number of ['0', '2', '-1', '01', '1.0', 'x', '99999999999999999999'])
      expect(await story.refusal('GET', `integration-templates/${id}/revisions/${number}`), number).toEqual([404, 'NOT_FOUND']);
  });

  test('masks of earlier revisions are found behind large ones, and not further back than a hundred', async () => {
    const large = (name: string) => ({
      events: { E: { mappings: [{ source: 'properties.a', target: 'a', value_map: { [name]: 'x'.repeat(900_000) } }] } },
      defaults: { action: 'drop' },
    });
    const url = 'https://hooks.example/in';
    const { template } = await story.made('integration-templates', {
      name: 'Long history',
      vendor: 'webhook',
      config: { url, auth_token: 'the-first-token-of-all', ...large('first') },
    });
    const path = `integration-templates/${template.id}/revisions`;
    for (let n = 0; n < 3; n++) await story.made(path, { config: { url, ...large(`n${n}`) } });
    const again = { config: { url, auth_token: '••••-all' } };
    expect((await story.made(path, again)).config.auth_token).toBe('••••-all');
    const later = Array.from({ length: 100 }, (_, n) => ({
      id: `rev_later${n}`,
      template_id: template.id,
      org_id: story.org.org_id,
      revision_number: 6 + n,
      config: JSON.stringify({ url }),
      secrets: null,
      delivery_mode: 'server_side' as const,
      change_summary: '',
      created_by: story.org.owner.id,
      created_at: new Date().toISOString(),
    }));
    await story.harness.store.db.insertInto('revisions').values(later).execute();
    expect(await story.refusal('POST', path, again), 'the search held up the changes of everybody').toEqual([
      422,
      'VALIDATION_ERROR',
      'config.auth_token',
    ]);
  });

  test('take masks for the secrets they show, keep the mode of the one before, and say what changed without telling secrets', async () => {
    const secret = 'a-very-long-secret-token';
    const id = await newTemplate(story, { url: URL, authentication: 'bearer', auth_token: secret });
    const shown = (await story.got(`integration-templates/${id}`)).latest_revision;
    expect(shown.config.auth_token).toBe('••••oken');
    const entry = await story.audited(async () => {
      const revision = await story.made(`integration-templates/${id}/revisions`, {
        ...shown,
        config: { ...shown.config, url: `${URL}/v2` },
        change_summary: 'Moved',
      });
      expect(revision).toMatchObject({
        revision_number: 2,
        change_summary: 'Moved',
        delivery_mode: 'server_side',
        created_by: story.org.owner.id,
      });
      expect(revision.config).toEqual({ ...shown.config, url: `${URL}/v2` });
    });
    expect(entry).toMatchObject({
      action: 'revision.created',
      changes: { config: { old: shown.config }, revision_number: { old: 1, new: 2 } },
    });
    expect(JSON.stringify(entry)).not.toContain(secret);
    const short = await newTemplate(story, { url: URL, authentication: 'bearer', auth_token: 'short' });
    expect((await story.got(`integration-templates/${short}`)).latest_revision.config.auth_token).toBe('••••');
  });

  test('with a fault add nothing', async () => {
    const id = await newTemplate(story);
    const path = `integration-templates/${id}/revisions`;
    expect(await story.refusal('POST', path, {})).toEqual([400, 'MISSING_FIELD', 'config']);
    expect(await story.refusal('POST', path, { config: { url: 5 } })).toEqual([422, 'VALIDATION_ERROR', 'config.url']);
    expect(await story.refusal('POST', path, { config: {}, sumary: '' })).toEqual([422, 'VALIDATION_ERROR', 'sumary']);
    expect(await story.refusal('POST', path, { config: { url: URL } }, await story.as('viewer'))).toEqual([403, 'FORBIDDEN']);
    expect(await story.refusal('POST', path, { config: { url: URL } }, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect((await story.got(path)).total).toBe(1);
  });

  test('of a vendor that has left the catalog still show no secret', async () => {
    const secret = 'a-secret-that-outlived-it';
    const id = await newTemplate(story, { url: URL, authentication: 'bearer', auth_token: secret });
    await story.harness.store.db.updateTable('templates').set({ vendor: 'gone' }).where('id', '=', id).execute();
    const { latest_revision } = await story.got(`integration-templates/${id}`);
    expect(latest_revision.config).toEqual({ url: URL, authentication: 'bearer', auth_token: '••••d-it' });
  });
});

onStory('counts of an organisation', (story) => {
  const NEW = { name: 'One more', vendor: 'webhook', config: { url: URL } };
  const refusal = async (path: string, body: object) => {
    const { status, body: answer } = await story.call('POST', path, body);
    return [status, answer.error?.code, answer.error?.message];
  };

  test('templates had no limit: 50,000 that are not deleted', async () => {
    const [pipeline, deleted] = [await newPipeline(story), await newTemplate(story)];
    const now = new Date().toISOString();
    // In parts: as one statement this exceeds the store's time limit on a busy machine.
    for (let from = 1; from < 50_000; from += 5_000)
      await sql`insert into templates (id, org_id, name, vendor, description, row_version, created_at, updated_at)
        with recursive n (i) as (select cast(${from} as integer) union all select i + 1 from n where i < ${Math.min(from + 4_999, 49_999)})
        select 'tpl_many' || cast(i as text), cast(${story.org.org_id} as text), 'Many', 'webhook', '', 1, cast(${now} as text),
          cast(${now} as text) from n`.execute(story.harness.store.db);
    const refused = [
      422,
      'VALIDATION_ERROR',
      'The body exceeds the budget organisation_templates: an organisation may have at most 50000 integration templates.',
    ];
    expect(await refusal('integration-templates', NEW)).toEqual(refused);
    expect(await refusal('integrations', { ...NEW, source_id: pipeline })).toEqual(refused);
    expect((await story.call('DELETE', `integration-templates/${deleted}`)).status).toBe(204);
    await story.made('integration-templates', NEW);
    expect(await refusal('integration-templates', NEW)).toEqual(refused);
    await story.made('integration-templates', NEW, story.stranger);
  });

  test('revisions had no limit: 10,000 of one template', async () => {
    const { template } = await story.made('integration-templates', NEW, story.stranger);
    const path = `integration-templates/${template.id}/revisions`;
    const { db } = story.harness.store;
    const first = await db.selectFrom('revisions').selectAll().where('template_id', '=', template.id).executeTakeFirstOrThrow();
    await db
      .insertInto('revisions')
      .values({ ...first, id: 'rev_9999', revision_number: 9_999 })
      .execute();
    const add = () => story.stranger('POST', path, { config: { url: URL } });
    expect((await add()).body.revision_number).toBe(10_000);
    const { status, body } = await add();
    expect([status, body.error.message]).toEqual([
      422,
      'The body exceeds the budget template_revisions: a template may have at most 10000 revisions.',
    ]);
  });
});
