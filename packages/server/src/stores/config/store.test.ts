import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integration } from '@firsthand/core/config/integration.ts';
import { type PipelineFields, pipeline } from '@firsthand/core/config/pipeline.ts';
import { template } from '@firsthand/core/config/template.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { CompiledQuery, createQueryId, type RootOperationNode, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { splitSecrets } from '../../secrets/mask.ts';
import { isUnavailable, isUniqueViolation } from './availability.ts';
import { changedDocuments } from './changed-documents.ts';
import { listAllIntegrations } from './integrations.ts';
import { loadConfig } from './load-config.ts';
import { migrate, schemaStatus } from './migrate.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { WORDS } from './migrations/migration.ts';
import { type ConfigStore, engineOf, openConfigStore, openUnmigrated } from './open.ts';
import { insertOrganisation } from './organisations.ts';
import { deletePipeline, findPipeline, insertPipeline, updatePipeline } from './pipelines.ts';
import { insertTransformation } from './transformations.ts';
import { nextConfigVersion, readConfigVersion } from './version.ts';

const FIELDS: PipelineFields = pipeline.sample({ name: 'Shop', parameters: { KEY: 'value \u0000 \ud800' } });
const NOW = '2026-05-01T00:00:00.000Z';

test.each(MIGRATIONS.filter(({ breaks }) => breaks !== true))('migration $id $name only adds', ({ sql: statements }) => {
  const adds = /^\s*(create (table|index|unique index)|alter table \w+ add( column)?|insert into|update|drop index) /;
  for (const words of Object.values(WORDS)) for (const statement of statements(words)) expect(statement).toMatch(adds);
});

test('migrations count from 1 without a gap', () => {
  expect(MIGRATIONS.map((migration) => migration.id)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});

onBothEngines('the configuration store', (fresh, engine) => {
  let store: ConfigStore;
  let dataDir: string;
  let databaseUrl: string | undefined;
  const cipher = createCipher('a secret key for tests');
  const open = () => openConfigStore({ databaseUrl, dataDir, clock: systemClock });
  beforeAll(async () => {
    databaseUrl = await fresh();
    dataDir = mkdtempSync(join(tmpdir(), 'firsthand-store-'));
    store = await open();
    await insertOrganisation(store.db, { id: 'org_1', name: 'One', data_key: cipher.newDataKey('org_1') }, { row_version: 0, now: NOW });
  });
  afterAll(async () => {
    await store?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('a full disk is reported as such', async () => {
    if (engine !== 'sqlite') return;
    const full = await open();
    await sql`pragma max_page_count = 1`.execute(full.db);
    const change = full.db.transaction().execute(async (tx) => {
      const name = 'x'.repeat(100_000);
      await insertOrganisation(tx, { id: 'org_2', name, data_key: cipher.newDataKey('org_2') }, { row_version: 0, now: NOW });
    });
    const failure = await change.catch((error: Error) => error);
    await full.close();
    expect([isUnavailable(failure), String(failure)]).toEqual([true, expect.stringContaining('full')]);
  });

  test('a connection that the server ends between two queries of a transaction fails that transaction, and nothing else', async () => {
    if (engine !== 'postgres') return;
    const { db } = store;
    const cut = db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(db);
      await expect.poll(async () => (await sql`select from pg_stat_activity where pid = ${rows[0]!.pid}`.execute(db)).rows.length).toBe(0);
      await readConfigVersion(transaction);
    });
    await expect(cut).rejects.toSatisfy(isUnavailable);
    expect(await readConfigVersion(db)).toBeDefined();
  });

  test('can be opened again without migrating, and by several processes at once', async () => {
    expect(engineOf(store.db)).toBe(engine);
    const others = await Promise.all([open(), open(), open()]);
    for (const other of others) {
      expect(await readConfigVersion(other.db)).toEqual(await readConfigVersion(store.db));
      await other.close();
    }
  });

  test('cannot be opened if a newer, incompatible version has written it', async () => {
    await expect(migrate(store.db, engine, Date.now, [])).rejects.toThrow(/newer version/);
  });

  test('a program runs on the schema of the next release, and the next release again after it', async () => {
    const other = openUnmigrated({ databaseUrl: await fresh(), dataDir: mkdtempSync(join(tmpdir(), 'firsthand-store-')) });
    const added = { id: MIGRATIONS.length + 1, name: 'added', sql: () => ['alter table organisations add column note text'] };
    const next = [...MIGRATIONS, added];
    await migrate(other.db, engine, Date.now, next);
    expect(await schemaStatus(other.db)).toMatchObject({ schema: added.id, known: MIGRATIONS.length, pending: [], starts: true });
    await migrate(other.db, engine, Date.now);
    const version = await nextConfigVersion(other.db);
    const org = { id: 'org_1', name: 'Old program', data_key: 'k', row_version: version, created_at: NOW, updated_at: NOW };
    await other.db.insertInto('organisations').values(org).execute();
    await migrate(other.db, engine, Date.now, next);
    const breaking = { id: next.length + 1, name: 'breaking', breaks: true as const, sql: () => ['create table later (id integer)'] };
    expect(await schemaStatus(other.db, [...next, breaking])).toMatchObject({ pending: [`${breaking.id} breaking`], rolling: false });
    await migrate(other.db, engine, Date.now, [...next, breaking]);
    expect(await schemaStatus(other.db)).toMatchObject({ starts: false });
    await expect(migrate(other.db, engine, Date.now)).rejects.toThrow(/newer version/);
    await other.close();
  });

  test('keeps a failed migration out as a whole', async () => {
    const broken = { id: MIGRATIONS.length + 1, name: 'broken', sql: () => ['create table half_made (id integer)', 'no such statement'] };
    await expect(migrate(store.db, engine, Date.now, [...MIGRATIONS, broken])).rejects.toThrow();
    await expect(sql`select * from half_made`.execute(store.db)).rejects.toThrow();
  });

  test('waits as safely as the engine can', async () => {
    if (engine !== 'sqlite') return;
    const pragma = async (name: string) => Object.values((await sql`${sql.raw(`pragma ${name}`)}`.execute(store.db)).rows[0] as object)[0];
    expect([await pragma('journal_mode'), await pragma('synchronous'), await pragma('foreign_keys')]).toEqual(['wal', 2, 1]);
  });

  test('serialises writers: parallel transactions get different versions, and none is lost', async () => {
    const { version } = await readConfigVersion(store.db);
    const versions = await Promise.all(Array.from({ length: 5 }, () => store.db.transaction().execute((tx) => nextConfigVersion(tx))));
    expect(new Set(versions).size).toBe(5);
    expect((await readConfigVersion(store.db)).version).toBe(version + 5);
  });

  test('leaves nothing of a transaction that fails', async () => {
    const before = await readConfigVersion(store.db);
    const failing = store.db.transaction().execute(async (tx) => {
      await nextConfigVersion(tx);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await readConfigVersion(store.db)).toEqual(before);
  });

  test.each(['revisions', 'audit_logs'] as const)('itself refuses to change or remove rows of %s', async (table) => {
    await insertImmutables();
    await expect(sql`update ${sql.table(table)} set org_id = 'x'`.execute(store.db)).rejects.toThrow(/immutable/);
    await expect(sql`delete from ${sql.table(table)}`.execute(store.db)).rejects.toThrow(/immutable/);
    if (engine === 'postgres') await expect(sql`truncate ${sql.table(table)} cascade`.execute(store.db)).rejects.toThrow(/immutable/);
  });

  test('tells a duplicate slug apart, and frees the slug of a deleted pipeline', async () => {
    const keys = (key: string) => ({
      pipeline_key: key,
      pipeline_key_secret: cipher.sealText(org(), 'sk_1'),
      pipeline_key_secret_prefix: 'sk_1',
      parameter_secrets: '',
    });
    const org = () => ({ id: 'org_1', data_key: dataKey });
    const dataKey = (await store.db.selectFrom('organisations').select('data_key').where('id', '=', 'org_1').executeTakeFirstOrThrow())
      .data_key;
    const stamp = { row_version: 1, now: NOW };
    await insertPipeline(store.db, { id: 'pl_a', org_id: 'org_1' }, { ...FIELDS, slug: 'twice' }, keys('pk_a'), stamp);
    const second = insertPipeline(store.db, { id: 'pl_b', org_id: 'org_1' }, { ...FIELDS, slug: 'twice' }, keys('pk_b'), stamp);
    expect(isUniqueViolation(await second.catch((error: unknown) => error))).toBe(true);
    await deletePipeline(store.db, 'org_1', 'pl_a', stamp);
    await insertPipeline(store.db, { id: 'pl_b', org_id: 'org_1' }, { ...FIELDS, slug: 'twice' }, keys('pk_b'), stamp);
    await deletePipeline(store.db, 'org_1', 'pl_b', stamp);
  });

  test('loads live rows, with their content only if the version is unknown', async () => {
    await insertImmutables();
    const { data_key } = await store.db.selectFrom('organisations').select('data_key').where('id', '=', 'org_1').executeTakeFirstOrThrow();
    const sealed = cipher.sealText({ id: 'org_1', data_key }, 'sk_secret');
    const keys = { pipeline_key: 'pk_live', pipeline_key_secret: sealed, pipeline_key_secret_prefix: 'sk_s', parameter_secrets: '' };
    await insertPipeline(store.db, { id: 'pl_live', org_id: 'org_1' }, { ...FIELDS, slug: 'live' }, keys, { row_version: 100, now: NOW });
    for (const id of ['int_1', 'int_2'])
      await store.db
        .insertInto('integrations')
        .values({
          ...integration.toColumns(
            integration.sample({
              id,
              org_id: 'org_1',
              pipeline_id: 'pl_live',
              template_id: 'tpl_1',
              event_filter: { event_names: ['A'] },
              rate_limit_rps: 2.5,
            }),
          ),
          row_version: 101,
          deleted_at: null,
        })
        .execute();
    const first = await loadConfig(store.db, cipher, new Map());
    expect(first.pipelines).toHaveLength(1);
    expect(first.pipelines[0]).toMatchObject({
      id: 'pl_live',
      row_version: 100,
      row: { pipeline_key_secret: 'sk_secret', tracking_plan: null, enabled: true, parameters: { KEY: 'value \u0000 \ud800' } },
    });
    expect(first.integrations[0]!.row).toMatchObject({
      vendor: 'webhook',
      rate_limit_rps: 2.5,
      event_filter: { event_names: ['A'] },
      config: { url: 'u', auth_token: 'a very secret token' },
    });
    // One object for both: the compiler recognises it (10,000 integrations of ten templates took 12.7 s to load).
    expect(first.integrations[1]!.row?.config).toBe(first.integrations[0]!.row?.config);
    expect(first.organisations[0]!.row?.data_layer.session.timeout_minutes).toBe(30);

    const known = new Map([...first.pipelines, ...first.integrations, ...first.organisations].map((item) => [item.id, item.row_version]));
    const second = await loadConfig(store.db, cipher, known);
    expect([...second.pipelines, ...second.integrations, ...second.organisations].every((item) => item.row === undefined)).toBe(true);

    // A row that nobody can read is off and says why; before, it held back every other change and the next start.
    await store.db
      .updateTable('integrations')
      .set({ event_filter: '{"event_names":', row_version: 102 })
      .where('deleted_at', 'is', null)
      .execute();
    await store.db.updateTable('pipelines').set({ parameters: 'none', row_version: 102 }).where('id', '=', 'pl_live').execute();
    const broken = await loadConfig(store.db, cipher, known);
    expect(broken.pipelines[0]!.row).toMatchObject({ enabled: false, unreadable: [{ field: 'parameters' }] });
    expect(broken.integrations[0]!.row).toMatchObject({ unreadable: [{ field: 'event_filter' }], config: { url: 'u' } });

    const live = (await findPipeline(store.db, 'org_1', 'pl_live'))!;
    await updatePipeline(store.db, live, { parameters: {}, enabled: false }, { row_version: 102, now: NOW });
    const third = await loadConfig(store.db, cipher, known);
    expect(third.pipelines[0]).toMatchObject({ row_version: 102, row: { enabled: false } });

    await deletePipeline(store.db, 'org_1', 'pl_live', { row_version: 103, now: NOW });
    const fourth = await loadConfig(store.db, cipher, known);
    expect([fourth.pipelines, fourth.integrations]).toEqual([[], []]);
  });

  test('the versions of thousands of integrations are read in pieces, and none is lost or repeated', async () => {
    await insertImmutables();
    const keys = { pipeline_key: 'pk_many', pipeline_key_secret: '', pipeline_key_secret_prefix: 'sk_s', parameter_secrets: '' };
    await insertPipeline(store.db, { id: 'pl_many', org_id: 'org_1' }, { ...FIELDS, slug: 'many' }, keys, { row_version: 1, now: NOW });
    const many = Array.from({ length: 2_000 }, (_, n) => `int_many_${String(n).padStart(4, '0')}`);
    const columns = integration.toColumns(integration.sample({ org_id: 'org_1', pipeline_id: 'pl_many', template_id: 'tpl_1' }));
    for (let from = 0; from < many.length; from += 500)
      await store.db
        .insertInto('integrations')
        .values(many.slice(from, from + 500).map((id) => ({ ...columns, id, row_version: 1, deleted_at: null })))
        .execute();
    let largest = 0;
    const counted = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        largest = Math.max(largest, result.rows.length);
        return result;
      },
    });
    const { integrations } = await loadConfig(counted, cipher, { get: () => 1 });
    expect(integrations).toEqual(many.map((id) => ({ id, row_version: 1, pipeline_id: 'pl_many' })));
    expect(largest).toBe(1_000);
    await deletePipeline(store.db, 'org_1', 'pl_many', { row_version: 2, now: NOW });
  });

  const onSqlite = engine === 'sqlite' ? test : test.skip;
  onSqlite('a page of all integrations is not sorted: sorting ten thousand took 34 ms', async () => {
    const asked: RootOperationNode[] = [];
    const watched = store.db.withPlugin({
      transformQuery({ node }) {
        asked.push(node);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    await listAllIntegrations(watched, 'org_1', {}, { limit: 10, offset: 0 });
    expect(asked).not.toEqual([]);
    for (const node of asked) {
      const { sql: text, parameters } = store.db.getExecutor().compileQuery(node, createQueryId());
      const { rows } = await store.db.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${text}`, [...parameters]));
      const plan = rows.map(({ detail }) => detail);
      expect(plan).toContain('SEARCH integrations USING INDEX integrations_list (org_id=?)');
      expect(plan).not.toContain('USE TEMP B-TREE FOR ORDER BY');
    }
  });

  test('large documents are read few at a time: fifty of 1 MB were read in one turn of the loop', async () => {
    const { data_key } = await store.db.selectFrom('organisations').select('data_key').where('id', '=', 'org_1').executeTakeFirstOrThrow();
    const secret = cipher.sealText({ id: 'org_1', data_key }, 'sk_secret');
    const keys = { pipeline_key: 'pk_large', pipeline_key_secret: secret, pipeline_key_secret_prefix: 'sk_s', parameter_secrets: '' };
    await insertPipeline(store.db, { id: 'pl_large', org_id: 'org_1' }, { ...FIELDS, slug: 'large' }, keys, { row_version: 1, now: NOW });
    const ids = Array.from({ length: 12 }, (_, n) => `trf_${n}`);
    for (const id of ids)
      await insertTransformation(
        store.db,
        { id, org_id: 'org_1', pipeline_id: 'pl_large' },
        { ...transformation.defaults, name: id, kind: 'code', code: 'x'.repeat(200_000) },
        { row_version: 1, now: NOW },
      );
    let largest = 0;
    const counted = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        largest = Math.max(largest, JSON.stringify(result.rows).length);
        return result;
      },
    });
    const { transformations } = await loadConfig(counted, cipher, new Map());
    expect(transformations.map(({ row }) => row?.code.length)).toEqual(ids.map(() => 200_000));
    const changed: string[] = [];
    for await (const { id } of changedDocuments(counted, cipher, 'org_1', 0)) changed.push(id);
    expect(changed).toEqual(expect.arrayContaining(ids));
    expect(largest).toBeLessThan(600_000);
    await deletePipeline(store.db, 'org_1', 'pl_large', { row_version: 2, now: NOW });
  });

  let inserted = false;
  async function insertImmutables(): Promise<void> {
    if (inserted) return;
    inserted = true;
    const { data_key } = await store.db.selectFrom('organisations').select('data_key').where('id', '=', 'org_1').executeTakeFirstOrThrow();
    const { open: config, secrets } = splitSecrets({ url: 'u', auth_token: 'a very secret token' }, [['auth_token']]);
    await store.db
      .insertInto('templates')
      .values({
        ...template.sample({ id: 'tpl_1', org_id: 'org_1' }),
        row_version: 1,
        deleted_at: null,
      })
      .execute();
    await store.db
      .insertInto('revisions')
      .values({
        id: 'rev_1',
        template_id: 'tpl_1',
        org_id: 'org_1',
        revision_number: 1,
        config: JSON.stringify(config),
        secrets: cipher.sealText({ id: 'org_1', data_key }, JSON.stringify(secrets)),
        delivery_mode: 'server_side',
        change_summary: '',
        created_by: 'usr_1',
        created_at: NOW,
      })
      .execute();
    await store.db
      .insertInto('audit_logs')
      .values({
        id: 'aud_1',
        org_id: 'org_1',
        seq: 1,
        user_id: null,
        user_email: null,
        action: 'a.b',
        resource_type: 'a',
        resource_id: null,
        changes: '{}',
        ip_address: null,
        user_agent: null,
        timestamp: NOW,
        previous_hash: '',
        hash: '',
      })
      .execute();
  }
});
