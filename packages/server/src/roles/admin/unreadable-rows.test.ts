/** Rows that were damaged underneath the service: their neighbours are listed, and writing the damaged field anew mends them. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Loose, onStory } from './testing/story.ts';

const GARBAGE = '{"half":';
const CONFIG = { url: 'https://hooks.example/in', authentication: 'bearer', auth_token: 'a-token-nobody-may-read' };

onStory('a stored row that cannot be read', (story, engine) => {
  let pipeline: string;
  const damage = (table: string, column: string, where: string, value: string) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = ${GARBAGE} where ${sql.ref(where)} = ${value}`.execute(story.harness.store.db);
  const stored = async (table: string, column: string, where: string, value: string) => {
    const { rows } = await sql<{
      text: string;
    }>`select ${sql.ref(column)} as text from ${sql.table(table)} where ${sql.ref(where)} = ${value}`.execute(story.harness.store.db);
    return rows[0]?.text;
  };
  const allow = (table: string) =>
    sql
      .raw(engine === 'sqlite' ? `drop trigger if exists ${table}_no_update` : `alter table ${table} disable trigger ${table}_no_change`)
      .execute(story.harness.store.db);

  beforeAll(async () => {
    pipeline = (await story.made('pipelines', { name: 'Neighbour' })).id;
  });

  const rules = { name: 'Rules', kind: 'rules', rules: [{ type: 'set', target: 'properties.a', value: 1 }] };
  const source = { name: 'Source', source_type: 'custom', signature_method: 'none', mappings: { event: "'Sent'" } };
  test.each<{ table: string; column: string; good: unknown; in: string; make: (pipeline: string) => object }>([
    { table: 'pipelines', column: 'labels', good: ['env:test'], in: 'pipelines', make: () => ({ name: 'Damaged' }) },
    { table: 'pipelines', column: 'domain_allowlist', good: ['shop.example'], in: 'pipelines', make: () => ({ name: 'Damaged' }) },
    { table: 'pipelines', column: 'parameters', good: { A: '1' }, in: 'pipelines', make: () => ({ name: 'Damaged' }) },
    { table: 'pipelines', column: 'config', good: { require_signature: true }, in: 'pipelines', make: () => ({ name: 'Damaged' }) },
    {
      table: 'transformations',
      column: 'rules',
      good: [{ type: 'delete', target: 'properties.b' }],
      in: 'pipelines/:pipeline/transformations',
      make: () => rules,
    },
    {
      table: 'webhook_sources',
      column: 'mappings',
      good: { event: "'Mended'" },
      in: 'webhook-sources',
      make: (pipeline_id) => ({ ...source, pipeline_id }),
    },
  ])('$table.$column', async ({ table, column, good, in: folder, make }) => {
    const path = folder.replace(':pipeline', pipeline);
    const neighbour = await story.made(path, make(pipeline));
    const { id } = await story.made(path, make(pipeline));
    await damage(table, column, 'id', id);

    const lists = (await story.got(path)) as Record<string, Loose>;
    const ids = Object.values(lists).flatMap((value) => (Array.isArray(value) ? value.map((item) => item.id) : []));
    expect(ids).toEqual(expect.arrayContaining([id, neighbour.id]));
    expect((await story.got(`${path}/${id}`)).id).toBe(id);

    await story.put(`${path}/${id}`, { name: 'Renamed' });
    expect(await stored(table, column, 'id', id), 'what was not sent is not overwritten with a guess').toBe(GARBAGE);
    expect((await story.put(`${path}/${id}`, { [column]: good }))[column]).toEqual(good);
    expect((await story.got(`${path}/${id}`))[column]).toEqual(good);
  });

  test("an integration's filter", async () => {
    const body = { source_id: pipeline, vendor: 'webhook', name: 'Damaged', config: CONFIG, event_filter: { event_names: ['A'] } };
    const { id } = await story.made('integrations', body);
    await damage('integrations', 'event_filter', 'id', id);
    expect((await story.got(`pipelines/${pipeline}/integrations`)).total).toBeGreaterThan(0);
    await story.put(`pipelines/${pipeline}/integrations/${id}`, { name: 'Renamed' });
    expect(await stored('integrations', 'event_filter', 'id', id)).toBe(GARBAGE);
    await story.put(`pipelines/${pipeline}/integrations/${id}`, { event_filter: null });
    expect(await stored('integrations', 'event_filter', 'id', id)).toBeNull();
  });

  describe('revisions', () => {
    test.each(['config', 'secrets'])('with damaged %s are listed, and a new one takes over', async (column) => {
      const made = await story.made('integration-templates', { name: 'Damaged', vendor: 'webhook', config: CONFIG });
      const path = `integration-templates/${made.template!.id}`;
      await allow('revisions');
      await damage('revisions', column, 'id', made.revision!.id);
      expect((await story.got(`${path}/revisions`)).total).toBe(1);
      expect((await story.got(`${path}/revisions/1`)).config).toEqual(column === 'config' ? {} : { ...CONFIG, auth_token: null });
      expect((await story.got(path)).id).toBe(made.template!.id);
      const back = { ...CONFIG, auth_token: '••••read' };
      expect(await story.refusal('POST', `${path}/revisions`, { config: back }), 'a mask of a secret that is lost').toEqual([
        422,
        'VALIDATION_ERROR',
        'config.auth_token',
      ]);
      expect((await story.made(`${path}/revisions`, { config: CONFIG })).config).toEqual(back);
    });
  });

  test('a tracking plan', async () => {
    const plan = { events: { Sent: { type: 'object' } }, on_violation: 'drop' };
    await story.put(`pipelines/${pipeline}/tracking-plan`, plan);
    await damage('tracking_plans', 'plan', 'pipeline_id', pipeline);
    expect(await story.got(`pipelines/${pipeline}/tracking-plan`)).toEqual({ events: {}, on_violation: 'allow' });
    expect(await story.put(`pipelines/${pipeline}/tracking-plan`, plan)).toEqual(plan);
  });

  test('an audit entry is listed without its changes, and the chain says that it is broken', async () => {
    const [newest] = (await story.got('audit-logs?limit=1')).audit_logs!;
    await allow('audit_logs');
    await damage('audit_logs', 'changes', 'id', newest!.id);
    expect((await story.got('audit-logs?limit=2')).audit_logs![0]).toMatchObject({ id: newest!.id, changes: {} });
    expect(await story.got(`audit-logs/${newest!.id}`)).toMatchObject({ id: newest!.id, changes: {} });
    expect(await story.got('audit-logs/verify')).toMatchObject({ valid: false, first_invalid_id: newest!.id });
  });

  test('a data layer is not replaced by defaults because one section was changed', async () => {
    const { config } = await story.put('data-layer', { config: { pii_rules: { ip: 'drop' } } });
    await damage('data_layers', 'config', 'org_id', story.org.org_id);
    expect((await story.got('data-layer')).org_id).toBe(story.org.org_id);
    expect(await story.refusal('PUT', 'data-layer', { config: { session: { timeout_minutes: 5 } } })).toEqual([409, 'CONFLICT']);
    expect(await stored('data_layers', 'config', 'org_id', story.org.org_id)).toBe(GARBAGE);
    expect((await story.put('data-layer', { config })).config).toEqual(config);
  });
});
