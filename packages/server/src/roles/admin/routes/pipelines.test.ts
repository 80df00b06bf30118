import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { verifyChallengeToken } from '../../../http/challenge-token.ts';
import { createCipher } from '../../../secrets/cipher.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { loadConfig } from '../../../stores/config/load-config.ts';
import { readConfigVersion } from '../../../stores/config/version.ts';
import { type AnswerBody, type Harness, SECRET_KEY, startHarness, type TestOrganisation } from '../testing/harness.ts';

onBothEngines('pipelines', (fresh, engine) => {
  let harness: Harness;
  let org: TestOrganisation;
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    harness.call(method, path, { token: org.owner.token, body, ...(headers === undefined ? {} : { headers }) });
  const create = async (body: object): Promise<AnswerBody> => {
    const answer = await call('POST', 'pipelines', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
  });
  afterAll(() => harness?.close());

  test('needs only a name, and returns every field with its default', async () => {
    expect(await create({ name: 'Bare' })).toEqual({
      id: expect.stringMatching(/^pl_[0-9a-z]{26}$/),
      org_id: org.org_id,
      name: 'Bare',
      slug: 'bare',
      type: 'web',
      pipeline_key: expect.stringMatching(/^pk_/),
      pipeline_key_secret: expect.stringMatching(/^sk_/),
      pipeline_key_secret_prefix: expect.stringMatching(/^sk_.$/),
      domain_allowlist: [],
      labels: [],
      rate_limit_rps: 1000,
      retention_days: null,
      challenge_token_required: false,
      parameters: {},
      config: {},
      js_builder_config: {
        script_filename: 'd.js',
        global_variable: '_df',
        delivery_method: 'cdn',
        vendor_syncs: {},
        consent_config: {},
        cross_domain: false,
      },
      identity_config: { cross_domain_enabled: false, cross_domain_domains: [], vendor_sync: {} },
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
  });

  test('accepts every writable field and returns it', async () => {
    const body = {
      name: 'Everything',
      slug: 'all-of-it',
      type: 'server',
      domain_allowlist: ['shop.example', '*.shop.example', 'localhost:3000', 'bücher.example'],
      labels: ['env:production', 'country:de', 'country:at', 'plain'],
      rate_limit_rps: 5,
      challenge_token_required: true,
      parameters: { META_PIXEL: '1', constructor: 'a name like any other', EMPTY: '' },
      config: { ip_allowlist: ['10.0.0.0/8', '::1', '192.0.2.7'], require_signature: true },
      js_builder_config: {
        script_filename: 'my-file_1.min.js',
        global_variable: '$collector',
        delivery_method: 'download',
        vendor_syncs: { meta: { enabled: true, consent_category: 'marketing' } },
        consent_config: { provider: 'onetrust', wait_ms: 500, required_category: 'analytics' },
        cross_domain: true,
        variables: [{ name: 'v', source: 'cookie', path: 'c', target: 'properties.c' }],
      },
      identity_config: { cross_domain_enabled: true, cross_domain_domains: ['a.example'], vendor_sync: { meta: { any: ['thing'] } } },
      enabled: false,
    };
    const created = await create(body);
    expect(created).toMatchObject(body);
    const { pipeline_key_secret: _secret, ...rest } = created;
    expect((await call('GET', `pipelines/${created.id}`)).body).toEqual(rest);
  });

  test('a change keeps omitted fields, replaces whole objects and sets defaults for their missing keys', async () => {
    const { id } = await create({
      name: 'Changing',
      labels: ['a'],
      parameters: { A: '1', B: '2' },
      js_builder_config: { script_filename: 'x.js', cross_domain: true },
    });
    const { body } = await call('PUT', `pipelines/${id}`, { parameters: { C: '3' }, js_builder_config: { cross_domain: false } });
    expect(body).toMatchObject({ name: 'Changing', slug: 'changing', labels: ['a'], parameters: { C: '3' } });
    expect(body.parameters).toEqual({ C: '3' });
    expect(body.js_builder_config).toMatchObject({ script_filename: 'd.js', cross_domain: false });
  });

  test('a label that is sent twice is stored once', async () => {
    const { id, labels } = await create({ name: 'Labelled', labels: ['env:a', 'plain', 'env:a', 'Plain'] });
    expect(labels).toEqual(['env:a', 'plain', 'Plain']);
    expect((await call('PUT', `pipelines/${id}`, { labels: ['b', 'a', 'b'] })).body.labels).toEqual(['b', 'a']);
    expect((await call('GET', 'pipelines?label=b')).body.pipelines.map((one) => one.id)).toEqual([id]);
  });

  test.each([
    ['slug', { slug: 'Not A Slug' }],
    ['slug', { slug: '-a' }],
    ['slug', { slug: 'a_' }],
    ['slug', { slug: 'a.b' }],
    ['slug', { slug: '' }],
    ['type', { type: 'tv' }],
    ['domain_allowlist[0]', { domain_allowlist: ['https://shop.example'] }],
    ['domain_allowlist[0]', { domain_allowlist: ['shop.example/path'] }],
    ['rate_limit_rps', { rate_limit_rps: 0 }],
    ['rate_limit_rps', { rate_limit_rps: '5' }],
    ['retention_days', { retention_days: 0 }],
    ['retention_days', { retention_days: 401 }],
    ['parameters.A', { parameters: { A: 1 } }],
    ['parameters.a b', { parameters: { 'a b': 'x' } }],
    ['config.ip_alowlist', { config: { ip_alowlist: [] } }],
    ['config.ip_allowlist[0]', { config: { ip_allowlist: ['300.1.1.1'] } }],
    ['js_builder_config.script_filename', { js_builder_config: { script_filename: '../d.js' } }],
    ['js_builder_config.script_filename', { js_builder_config: { script_filename: 'd.txt' } }],
    ['js_builder_config.global_variable', { js_builder_config: { global_variable: 'a-b' } }],
    // The last ones are the browser's: a page would load again without end, or lose what it needs.
    ...['class', 'location', 'window', 'fetch', '__proto__', 'undefined'].map((global_variable): [string, object] => [
      'js_builder_config.global_variable',
      { js_builder_config: { global_variable } },
    ]),
    ...['__proto__.x', 'properties.constructor', 'properties..x', '.x', '', 'propertis.section', 'section'].map(
      (target): [string, object] => [
        'js_builder_config.variables[0].target',
        { js_builder_config: { variables: [{ name: 'v', source: 'meta', path: 'p', target }] } },
      ],
    ),
    ['js_builder_config.delivery_method', { js_builder_config: { delivery_method: 'fax' } }],
    ['name', { name: '   ' }],
  ])('names the fault at %s', async (field, fault) => {
    const answer = await call('POST', 'pipelines', { name: 'Faulty', ...fault });
    expect([answer.status, answer.body.error?.code, answer.body.error?.details?.[0]?.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  test('a fault of a name in an object, or of the query, is not called an unknown field or a fault of the body', async () => {
    const named = await call('POST', 'pipelines', { name: 'Faulty', parameters: { 'a b': 'x' } });
    expect(named.body.error?.message).toBe('parameters.a b is not a valid name.');
    const asked = await call('GET', 'pipelines?%00=1');
    expect([asked.status, asked.body.error?.message]).toEqual([422, 'query has a key that may not hold the character U+0000.']);
  });

  test('slugs: from the name, numbered where taken, 409 where given and taken, free after a deletion', async () => {
    const names = ['Ünïque Slüg', 'unique slug', 'Unique—Slug!'];
    const slugs = [];
    for (const name of names) slugs.push((await create({ name })).slug);
    expect(slugs).toEqual(['unique-slug', 'unique-slug-2', 'unique-slug-3']);
    expect((await create({ name: 'Магазин' })).slug).toBe('magazin');
    expect((await create({ name: '日本' })).slug).toBe('pipeline');
    expect((await create({ name: 'x', slug: 'eu_shop--2' })).slug, 'any URL-safe one').toBe('eu_shop--2');
    const taken = await call('POST', 'pipelines', { name: 'x', slug: 'unique-slug' });
    expect([taken.status, taken.body.error.code]).toEqual([409, 'DUPLICATE_RESOURCE']);
    const { id } = await create({ name: 'mover' });
    expect((await call('PUT', `pipelines/${id}`, { slug: 'unique-slug' })).status).toBe(409);
    expect((await call('PUT', `pipelines/${id}`, { slug: 'mover' })).status, 'its own slug is no duplicate').toBe(200);
    expect((await call('DELETE', `pipelines/${id}`)).body).toEqual({ status: 'deleted' });
    expect((await create({ name: 'x', slug: 'mover' })).slug).toBe('mover');
    const other = await harness.newOrganisation();
    const elsewhere = await harness.call('POST', 'pipelines', { token: other.owner.token, body: { name: 'x', slug: 'unique-slug' } });
    expect(elsewhere.status, 'unique in each organisation').toBe(201);
  });

  test('two creates of one slug at once: one 201, one 409; of one name: two different slugs', async () => {
    // A queue of writes on a slow machine may take longer than a request waits: the answer is 503, and a client tries again.
    const patient = async (body: object) => {
      for (;;) {
        const answer = await call('POST', 'pipelines', body);
        if (answer.status !== 503) return answer;
      }
    };
    const same = await Promise.all([1, 2].map(() => patient({ name: 'Race', slug: 'race' })));
    expect(same.map(({ status }) => status).sort()).toEqual([201, 409]);
    const named = await Promise.all(Array.from({ length: 10 }, () => patient({ name: 'Crowd' })));
    expect(named.map(({ status }) => status)).toEqual(named.map(() => 201));
    expect(new Set(named.map(({ body }) => body.slug)).size).toBe(10);
  });

  test('lists with search, type, label and enabled, newest first, in pages', async () => {
    const lists = await harness.newOrganisation();
    const as = (method: string, path: string, body?: unknown) => harness.call(method, path, { token: lists.owner.token, body });
    for (const body of [
      { name: 'Alpha 100%', type: 'web', labels: ['env:prod', 'a"b'] },
      { name: 'ÄRGER', type: 'app', labels: ['env:prod'], enabled: false },
      { name: 'Gamma_x', type: 'server', slug: 'third' },
    ])
      expect((await as('POST', 'pipelines', body)).status).toBe(201);
    const names = async (query: string) => (await as('GET', `pipelines?${query}`)).body.pipelines.map(({ name }) => name);
    expect(await names('')).toEqual(['Gamma_x', 'ÄRGER', 'Alpha 100%']);
    expect(await names('search=alPHA')).toEqual(['Alpha 100%']);
    expect(await names(`search=${encodeURIComponent('ärg')}`)).toEqual(['ÄRGER']);
    expect(await names('search=third')).toEqual(['Gamma_x']);
    expect(await names('search=%25')).toEqual(['Alpha 100%']);
    expect(await names('search=_')).toEqual(['Gamma_x']);
    expect(await names('type=app')).toEqual(['ÄRGER']);
    expect(await names('label=env:prod')).toEqual(['ÄRGER', 'Alpha 100%']);
    expect(await names('label=env:pro')).toEqual([]);
    expect(await names('label=ENV:PROD')).toEqual([]);
    expect(await names(`label=${encodeURIComponent('a"b')}`)).toEqual(['Alpha 100%']);
    expect(await names('enabled=false')).toEqual(['ÄRGER']);
    expect(await names('enabled=true&type=web')).toEqual(['Alpha 100%']);
    expect((await as('GET', 'pipelines?type=tv')).status).toBe(422);
    const page = (await as('GET', 'pipelines?limit=1&offset=1')).body;
    expect(page).toMatchObject({ total: 3, limit: 1, offset: 1, pipelines: [{ name: 'ÄRGER' }] });
    expect(Object.keys(page.pipelines[0]!).sort()).toEqual([
      'created_at',
      'enabled',
      'id',
      'labels',
      'name',
      'pipeline_key',
      'slug',
      'type',
      'updated_at',
    ]);
  });

  test('the secret is returned on creation and rotation only, is sealed in the store, and reaches the snapshot', async () => {
    const created = await create({ name: 'Secretive' });
    const rotated = (await call('POST', `pipelines/${created.id}/rotate-secret`)).body;
    const { audit_logs } = (await call('GET', `audit-logs?resource_id=${created.id}&action=pipeline.secret_rotated`)).body;
    expect(audit_logs[0]!.changes.pipeline_key_secret).toEqual({ old: '••••', new: `••••${rotated.pipeline_key_secret.slice(-4)}` });
    expect(rotated).toEqual({
      pipeline_key: created.pipeline_key,
      pipeline_key_secret: expect.stringMatching(/^sk_/),
      pipeline_key_secret_prefix: rotated.pipeline_key_secret.slice(0, 4),
    });
    expect(rotated.pipeline_key_secret).not.toBe(created.pipeline_key_secret);
    const everywhere = [
      await call('GET', `pipelines/${created.id}`),
      await call('GET', 'pipelines'),
      await call('PUT', `pipelines/${created.id}`, { name: 'Still secretive' }),
      await call('GET', 'audit-logs?limit=100'),
    ];
    const rows = await harness.store.db.selectFrom('pipelines').selectAll().execute();
    for (const secret of [created.pipeline_key_secret, rotated.pipeline_key_secret])
      expect(JSON.stringify([everywhere, rows]).includes(secret)).toBe(false);
    const loaded = await loadConfig(harness.store.db, createCipher(SECRET_KEY), new Map());
    expect(loaded.pipelines.find(({ id }) => id === created.id)?.row?.pipeline_key_secret).toBe(rotated.pipeline_key_secret);
  });

  test('disable, delete and rotation are urgent; other changes are not; the process hears of each', async () => {
    const { id } = await create({ name: 'Urgent' });
    const isUrgent = async (method: string, path: string, body?: unknown) => {
      const heard = harness.changes();
      expect((await call(method, path, body)).status).toBe(200);
      expect(harness.changes()).toBe(heard + 1);
      const { version, urgent_version } = await readConfigVersion(harness.store.db);
      return version === urgent_version;
    };
    expect(await isUrgent('PUT', `pipelines/${id}`, { name: 'Calm' })).toBe(false);
    expect(await isUrgent('PUT', `pipelines/${id}`, { enabled: false })).toBe(true);
    expect(await isUrgent('PUT', `pipelines/${id}`, { enabled: true })).toBe(false);
    expect(await isUrgent('POST', `pipelines/${id}/rotate-secret`)).toBe(true);
    expect(await isUrgent('DELETE', `pipelines/${id}`)).toBe(true);
  });

  test('challenge tokens belong to one pipeline and expire', async () => {
    const { id } = await create({ name: 'Challenged' });
    const { token, expires_at } = (await call('POST', `pipelines/${id}/tokens`)).body;
    const key = deriveKey(SECRET_KEY, 'challenge-token');
    const end = Date.parse(expires_at as string);
    expect(verifyChallengeToken(key, token, id, end - 1)).toBe(true);
    expect(verifyChallengeToken(key, token, id, end)).toBe(false);
    expect(verifyChallengeToken(key, token, 'pl_other', end - 1)).toBe(false);
  });

  test('each write leaves its entry: old and new values, who and from where; a changed entry breaks the chain', async () => {
    const audited = await harness.newOrganisation();
    const as = (method: string, path: string, body?: unknown) =>
      harness.call(method, path, { token: audited.owner.token, body, headers: { 'user-agent': 'test/1' } });
    const { id } = (await as('POST', 'pipelines', { name: 'Watched' })).body;
    await as('PUT', `pipelines/${id}`, { name: 'Renamed', enabled: false });
    await as('DELETE', `pipelines/${id}`);
    const { audit_logs, total } = (await as('GET', `audit-logs?resource_id=${id}`)).body;
    expect(audit_logs.map(({ action }) => action)).toEqual(['pipeline.deleted', 'pipeline.updated', 'pipeline.created']);
    expect(total).toBe(3);
    expect(audit_logs[1]).toMatchObject({
      org_id: audited.org_id,
      user_id: audited.owner.id,
      user_email: audited.owner.email,
      resource_type: 'pipeline',
      changes: { name: { old: 'Watched', new: 'Renamed' }, enabled: { old: true, new: false } },
      ip_address: '127.0.0.1',
      user_agent: 'test/1',
    });
    expect(Object.keys(audit_logs[1]!.changes).sort()).toEqual(['enabled', 'name']);
    const count = async (query: string) => (await as('GET', `audit-logs?${query}`)).body.total;
    expect(await count('action=pipeline.updated')).toBe(1);
    expect(await count('resource_type=auth')).toBe(1);
    expect(await count('from=2999-01-01')).toBe(0);
    expect(await count('to=2999-01-01T00:00:00%2B02:00')).toBe(5);
    const { timestamp } = audit_logs[1] as unknown as { timestamp: string };
    expect(await count(`action=pipeline.updated&from=${timestamp}&to=${timestamp}`)).toBe(1);
    const day = timestamp.slice(0, 10);
    expect(await count(`action=pipeline.updated&from=${day}&to=${day}`), 'a date is the whole day').toBe(1);
    expect((await as('GET', 'audit-logs?from=yesterday')).status).toBe(422);
    expect((await as('GET', 'audit-logs?from=2999-01-02&to=2999-01-01')).status).toBe(422);
    expect((await as('GET', 'audit-logs/verify')).body).toEqual({ valid: true, checked: 5, first_invalid_id: null });

    const { db } = harness.store;
    const unlock =
      engine === 'sqlite' ? 'drop trigger audit_logs_no_update' : 'alter table audit_logs disable trigger audit_logs_no_change';
    await sql.raw(unlock).execute(db);
    await db.updateTable('audit_logs').set({ user_email: 'somebody.else@example.com' }).where('id', '=', audit_logs[1]!.id).execute();
    expect((await as('GET', 'audit-logs/verify')).body).toEqual({ valid: false, checked: 3, first_invalid_id: audit_logs[1]!.id });
    await db.updateTable('audit_logs').set({ user_email: audited.owner.email }).where('id', '=', audit_logs[1]!.id).execute();
    expect((await as('GET', 'audit-logs/verify')).body.valid).toBe(true);
    const end = engine === 'sqlite' ? 'drop trigger audit_logs_no_delete' : 'select 1';
    await sql.raw(end).execute(db);
    await db.deleteFrom('audit_logs').where('id', '=', audit_logs[0]!.id).execute();
    expect((await as('GET', 'audit-logs/verify')).body, 'a missing end is noticed').toEqual({
      valid: false,
      checked: 4,
      first_invalid_id: null,
    });
  });
});
