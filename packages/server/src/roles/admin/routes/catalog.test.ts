import { CATEGORIES, loadVendors } from '@firsthand/catalog/index.ts';
import { expect, test } from 'vitest';
import { onStory } from '../testing/story.ts';

const GA4 = 'integration-catalog/google_analytics_4';
const VENDORS = await loadVendors();
const SECRET = 'an-api-secret-of-theirs';

onStory('the integration catalog', (story) => {
  test('lists every vendor, with all six categories whatever the filter', async () => {
    const all = await story.got('integration-catalog');
    expect(all.categories).toEqual(['advertising', 'analytics', 'attribution', 'cdp', 'cloud_storage', 'other']);
    expect([all.total, all.vendors.length]).toEqual([VENDORS.length, VENDORS.length]);
    const none = await story.got('integration-catalog?search=no-such-vendor-anywhere');
    expect(none).toEqual({ vendors: [], total: 0, categories: [...CATEGORIES] });
  });

  test('searches in name and description whatever the case, and filters by category and status', async () => {
    const keys = async (query: string) => (await story.got(`integration-catalog?${query}`)).vendors.map(({ key }) => key);
    expect(await keys('search=gOOgle%20anaLYTICS')).toContain('google_analytics_4');
    expect(await keys('search=measurement%20protocol'), 'in the description').toContain('google_analytics_4');
    for (const category of CATEGORIES)
      expect(await keys(`category=${category}`)).toEqual(VENDORS.filter((vendor) => vendor.category === category).map(({ key }) => key));
    for (const status of ['ga', 'beta'])
      expect(await keys(`status=${status}`)).toEqual(VENDORS.filter((vendor) => vendor.status === status).map(({ key }) => key));
    expect(await story.refusal('GET', 'integration-catalog?category=tv')).toEqual([422, 'VALIDATION_ERROR', 'category']);
    expect(await story.refusal('GET', 'integration-catalog?status=alpha')).toEqual([422, 'VALIDATION_ERROR', 'status']);
  });

  test('shows one vendor as the list does, with its mappings and sample requests; an unknown one is 404', async () => {
    const { vendors } = await story.got('integration-catalog');
    const { sample_requests, ...vendor } = await story.got(GA4);
    const variants = vendor.variants.map(({ default_config: _, ...variant }) => variant);
    expect({ ...vendor, variants }).toEqual(vendors.find(({ key }) => key === 'google_analytics_4'));
    expect(vendor.variants[0]?.default_config).toMatchObject({ events: expect.any(Object) });
    expect(vendor).toMatchObject({
      group: expect.any(String),
      setup_steps: expect.any(Array),
      docs: { url: expect.stringMatching(/^https/) },
    });
    expect(sample_requests).toMatchObject([{ event: { event: 'Order Completed' }, requests: [{ method: 'POST' }] }, {}, {}]);
    const [first] = sample_requests;
    expect(first?.requests[0]).toMatchObject({ body: { events: [{ name: 'purchase' }] } });
    expect(await story.refusal('GET', 'integration-catalog/nobody')).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('POST', 'integration-catalog/nobody/install', { name: 'X' })).toEqual([404, 'NOT_FOUND']);
  });

  test('has no field types but those of the specification', async () => {
    const { vendors } = await story.got('integration-catalog');
    const fields = vendors.flatMap(({ config_fields = [] }) => config_fields.flatMap((field) => [field, ...(field.columns ?? [])]));
    expect([...new Set(fields.map(({ type }) => type))].sort()).toEqual(['boolean', 'number', 'secret', 'select', 'string']);
  });

  test('shows the columns of a table, and takes its rows as a list or as the JSON text of one', async () => {
    const { config_fields } = await story.got('integration-catalog/google_ads');
    const table = config_fields?.find(({ key }) => key === 'conversion_actions');
    expect(table).toMatchObject({ type: 'string', rows: 'table' });
    expect(table?.columns).toMatchObject([
      { key: 'event', type: 'string', required: true },
      { key: 'conversion_action_id', type: 'string', required: true },
    ]);
    const { max_rows = 0, placeholder: text = '' } = table as unknown as { max_rows: number; placeholder: string };
    const rows = JSON.parse(text) as Record<string, string>[];
    expect(rows.map((row) => Object.keys(row))).toEqual([['event', 'conversion_action_id']]);
    const install = (conversion_actions: unknown) =>
      story.call('POST', 'integration-catalog/google_ads/install', { name: 'Rows', config: { conversion_actions } });
    expect([(await install(rows)).status, (await install(text)).status]).toEqual([201, 201]);
    const many = Array.from({ length: max_rows }, () => rows[0]);
    expect([(await install(many)).status, (await install([...many, rows[0]])).status]).toEqual([201, 422]);
  });

  test('install makes template and revision 1, objects merged recursively, lists replaced, the secret masked', async () => {
    const { variants } = await story.got(GA4);
    const retail = variants.find(({ key }) => key === 'retail')!.default_config;
    expect(retail.global.mappings.length).toBeGreaterThan(1);
    const mappings = [{ source: 'user_id', target: 'user_id' }];
    const { template, revision } = await story.made(`${GA4}/install`, {
      name: 'Shop',
      variant: 'retail',
      description: 'Ours',
      config: { measurement_id: 'G-ABC1234567', api_secret: SECRET, global: { mappings } },
    });
    expect(template).toMatchObject({
      id: expect.stringMatching(/^tpl_/),
      org_id: story.org.org_id,
      name: 'Shop',
      vendor: 'google_analytics_4',
      description: 'Ours',
      catalog_vendor_key: 'google_analytics_4',
      catalog_variant_key: 'retail',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(revision).toEqual({
      id: expect.stringMatching(/^rev_/),
      integration_id: template.id,
      org_id: story.org.org_id,
      revision_number: 1,
      config: { ...retail, measurement_id: 'G-ABC1234567', api_secret: '••••eirs', global: { ...retail.global, mappings } },
      delivery_mode: 'server_side',
      change_summary: expect.stringMatching(/initial setup.*catalog.*Google Analytics 4.*retail/i),
      created_by: story.org.owner.id,
      created_at: expect.any(String),
    });
    expect(await story.got(`integration-templates/${template.id}`)).toEqual({ ...template, latest_revision: revision, used_by: [] });
  });

  test('install takes steps of version 1 in place of the whole mapping of the variant', async () => {
    const steps = [{ type: 'map', source: 'properties.total', target: 'value' }];
    const { revision } = await story.made(`${GA4}/install`, {
      name: 'Steps',
      variant: 'retail',
      config: { version: 1, steps, measurement_id: 'G-ABC1234567' },
    });
    expect(revision.config).toEqual({ version: 1, steps, measurement_id: 'G-ABC1234567' });
    const said = async (config: object) => (await story.call('POST', `${GA4}/install`, { name: 'Both', config })).body.error.message;
    expect(await said({ version: 1, steps, events: {} })).toEqual('config.events belongs to version 2; version 1 has steps.');
    expect(await said({ steps })).toEqual('config.steps belongs to version 1.');
    expect(await said({ events: [] })).toMatch(/^config\.events must be an object: its keys are event names/);
  });

  test('install needs nothing but a name: the default variant, incomplete', async () => {
    const { template, revision } = await story.made(`${GA4}/install`, { name: 'Later' });
    expect([template.catalog_variant_key, template.description, revision.config.measurement_id]).toEqual(['default', '', undefined]);
  });

  test.each([
    ['no name', {}, [400, 'MISSING_FIELD', 'name']],
    ['an unknown variant', { variant: 'space' }, [422, 'VALIDATION_ERROR', 'variant']],
    ['a wrong value', { config: { measurement_id: 'UA-1' } }, [422, 'VALIDATION_ERROR', 'config.measurement_id']],
    ['an unknown config field', { config: { measurment_id: 'G-ABC1234567' } }, [422, 'VALIDATION_ERROR', 'config.measurment_id']],
    ['a mask of nothing', { config: { api_secret: '••••abcd' } }, [422, 'VALIDATION_ERROR', 'config.api_secret']],
    ['an unknown field', { konfig: {} }, [422, 'VALIDATION_ERROR', 'konfig']],
    ['a mode of delivery nobody knows', { delivery_mode: 'pigeon' }, [422, 'VALIDATION_ERROR', 'delivery_mode']],
    ['a browser where the vendor allows none', { delivery_mode: 'client_side' }, [422, 'VALIDATION_ERROR', 'delivery_mode']],
  ])('install refuses %s, and leaves neither template nor entry', async (what, fault, expected) => {
    const count = async () => (await story.got('integration-templates')).total + (await story.got('audit-logs')).total;
    const before = await count();
    const body = what === 'no name' ? fault : { name: 'Faulty', ...fault };
    expect(await story.refusal('POST', `${GA4}/install`, body)).toEqual(expected);
    expect(await count()).toBe(before);
  });

  test('install is for editors, and leaves one entry without the secret', async () => {
    const [viewer, editor] = [await story.as('viewer'), await story.as('editor')];
    const body = { name: 'By an editor', config: { api_secret: SECRET } };
    expect(await story.refusal('POST', `${GA4}/install`, body, viewer)).toEqual([403, 'FORBIDDEN']);
    expect((await viewer('GET', 'integration-catalog')).status).toBe(200);
    const entry = await story.audited(() => story.made(`${GA4}/install`, body, editor));
    expect([entry.action, entry.resource_type, entry.changes.name]).toEqual([
      'template.installed',
      'template',
      { old: null, new: 'By an editor' },
    ]);
    expect(entry.changes.config!.new.api_secret).toBe('••••eirs');
    expect(JSON.stringify(entry)).not.toContain(SECRET);
  });
});
