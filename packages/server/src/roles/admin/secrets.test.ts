import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { loadConfig } from '../../stores/config/load-config.ts';
import { listKeyedOrganisations, replaceDataKey } from '../../stores/config/organisations.ts';
import { type Api, apiOf, makePath } from './testing/fixtures.ts';
import { type Harness, SECRET_KEY, startHarness, type TestOrganisation } from './testing/harness.ts';

const TOKEN = 'bearer-token-that-nobody-may-read';
const HEADER = 'header-value-that-nobody-may-read';
const SIGNING = 'whsec_signing-secret-nobody-may-read';
const PARAMETER = 'pipeline-parameter-nobody-may-read';
const NUMBER = 987_654_321_098;
const URL_IN = 'http://127.0.0.1:9/in';

onBothEngines('secrets', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  let api: Api;
  let pipeline_id: string;
  let template_id: string;
  const secrets = [TOKEN, HEADER, SIGNING, PARAMETER];
  const config = { url: URL_IN, authentication: 'bearer', auth_token: TOKEN, headers: { 'X-Api-Key': HEADER, Accept: 'text/plain' } };
  const masked = { ...config, auth_token: '••••read', headers: { 'X-Api-Key': '••••read', Accept: 'text/plain' } };
  const storedConfig = async () => {
    const { integrations } = await loadConfig(harness.store.db, createCipher(SECRET_KEY), new Map());
    return integrations.find(({ row }) => row?.template_id === template_id)?.row?.config;
  };

  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
    api = apiOf(harness, org);
    const pipeline = await api('POST', '/v1/admin/pipelines', { name: 'Secrets', parameters: { API_SECRET: PARAMETER } });
    pipeline_id = pipeline.body.id as string;
    secrets.push(pipeline.body.pipeline_key_secret as string);
    secrets.push(String(NUMBER));
    const template = await api('POST', '/v1/admin/integration-templates', { name: 'Hook', vendor: 'webhook', config });
    template_id = (template.body.template as { id: string }).id;
    expect((template.body.revision as { config: unknown }).config).toEqual(masked);
    expect((await api('POST', `/v1/admin/pipelines/${pipeline_id}/integrations`, { template_id })).status).toBe(201);
    const source = await api('POST', '/v1/admin/webhook-sources', {
      name: 'Payments',
      source_type: 'payment_processor',
      pipeline_id,
      signing_secret: SIGNING,
    });
    expect([source.status, source.body.signing_secret]).toEqual([201, SIGNING]);
  });
  afterAll(() => harness?.close());

  test('a password inside a URL, headers written as text, or a password sent as a number, read back as masks, which keep them', async () => {
    for (const [vendor, sent, field] of [
      ['redis', { url: 'redis://user:password-in-the-url@cache.example:6379/0' }, 'url'],
      ['webhook', { url: URL_IN, headers: '{"Authorization":"Bearer header-as-text"}' }, 'headers'],
      ['webhook', { url: URL_IN, authentication: 'basic', auth_username: 'shop', auth_password: NUMBER }, 'auth_password'],
    ] as const) {
      const made = await api('POST', '/v1/admin/integration-templates', { name: vendor, vendor, config: sent });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      expect(JSON.stringify(made.body)).not.toMatch(/password-in-the-url|header-as-text|987654321098/);
      const { id } = made.body.template as { id: string };
      const { config: shown } = made.body.revision as { config: Record<string, unknown> };
      expect(shown[field]).toMatch(/^••••/);
      const again = await api('POST', `/v1/admin/integration-templates/${id}/revisions`, { config: { ...shown, timeout_ms: 2_000 } });
      expect([again.status, (again.body.config as Record<string, unknown>)[field]]).toEqual([201, shown[field]]);
    }
  });

  test('are in no answer to a reading, of any route', async () => {
    const routes = harness.app.routeTable.filter((route) => route.method === 'GET' && route.role !== 'public');
    const own: Record<string, string> = {
      '/v1/admin/pipelines/:id': pipeline_id,
      '/v1/admin/integration-templates/:id': template_id,
      '/v1/admin/webhook-sources/:id': ((await api('GET', '/v1/admin/webhook-sources')).body.webhook_sources as { id: string }[])[0]!.id,
    };
    for (const route of routes) {
      const known = Object.keys(own).find((prefix) => route.url.startsWith(prefix));
      const direct = known === undefined ? route.url : route.url.replace(known, known.replace(':id', own[known]!));
      const path = direct.endsWith('/:number')
        ? direct.replace(':number', '1')
        : direct.includes(':')
          ? await makePath(api, route.url)
          : direct;
      const text = JSON.stringify(await api('GET', path));
      for (const secret of secrets) expect(text.includes(secret), `${route.url} shows ${secret}`).toBe(false);
    }
  });

  test('are in no table as they are', async () => {
    const tables = ['pipelines', 'revisions', 'webhook_sources', 'audit_logs', 'users', 'refresh_tokens', 'organisations'];
    for (const table of tables) {
      const { rows } = await sql`select * from ${sql.table(table)}`.execute(harness.store.db);
      for (const secret of secrets) expect(JSON.stringify(rows).includes(secret), `${table} holds ${secret}`).toBe(false);
    }
  });

  test('reach the snapshot, stay when their mask is written back, and change when they are written', async () => {
    expect(await storedConfig()).toMatchObject(config);
    const revise = async (next: object) => {
      const made = await api('POST', `/v1/admin/integration-templates/${template_id}/revisions`, { config: next });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      const { integrations } = (await api('GET', `/v1/admin/pipelines/${pipeline_id}/integrations`)).body as {
        integrations: { id: string }[];
      };
      const { revision_number } = made.body;
      await api('PUT', `/v1/admin/pipelines/${pipeline_id}/integrations/${integrations[0]!.id}`, { revision_number });
    };
    await revise({ ...masked, url: `${URL_IN}/v2` });
    expect(await storedConfig()).toMatchObject({ ...config, url: `${URL_IN}/v2` });
    await revise({ ...masked, auth_token: 'quite another token' });
    expect(await storedConfig()).toMatchObject({ ...config, auth_token: 'quite another token' });
    const strange = await api('POST', `/v1/admin/integration-templates/${template_id}/revisions`, {
      config: { ...masked, auth_token: '••••else' },
    });
    expect(strange.status, 'a mask of nothing that is stored').toBe(422);
    // Revision 1, as it reads, sent as the next one: its token is no longer the latest revision's.
    await revise((await api('GET', `/v1/admin/integration-templates/${template_id}/revisions/1`)).body.config as object);
    expect(await storedConfig()).toMatchObject(config);
  });

  test('open under a new key after its data keys are wrapped anew, without a revision being touched', async () => {
    const { db } = harness.store;
    const [old, next] = [createCipher(SECRET_KEY), createCipher('the next secret key')];
    const before = await db.selectFrom('revisions').selectAll().orderBy('id').execute();
    for (const organisation of await listKeyedOrganisations(db)) await replaceDataKey(db, organisation.id, old.rewrap(organisation, next));
    const { pipelines } = await loadConfig(db, next, new Map());
    expect(pipelines.find(({ id }) => id === pipeline_id)?.row?.pipeline_key_secret).toBe(secrets[4]);
    expect(await db.selectFrom('revisions').selectAll().orderBy('id').execute()).toEqual(before);
    // Under the old key nothing opens: the pipeline is off with its reason, and takes nothing in.
    const closed = (await loadConfig(db, old, new Map())).pipelines.find(({ id }) => id === pipeline_id)?.row;
    expect(closed).toMatchObject({
      enabled: false,
      pipeline_key_secret: '',
      unreadable: [{ field: 'pipeline_key_secret' }, { field: 'parameters' }],
    });
  });
});
