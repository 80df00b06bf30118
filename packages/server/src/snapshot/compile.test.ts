import { loadVendors } from '@firsthand/catalog/index.ts';
import { integration } from '@firsthand/core/config/integration.ts';
import { pipeline } from '@firsthand/core/config/pipeline.ts';
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { expect, test } from 'vitest';
import { type CompleteRows, compileSnapshot } from './compile.ts';
import { compileIntegration } from './compile-integration.ts';

const SETTINGS = { mode: 'development', allowPrivateDestinations: true, natsUrl: undefined } as const;
const condition = { field: 'event', op: 'matches', value: '^[a-z]{900}$' };
const rules = [{ type: 'filter' as const, condition: { any: Array.from({ length: 9 }, () => condition) } }];

function rowsWith(steps: number[]): CompleteRows {
  const owner = { org_id: 'org_1', pipeline_id: 'pl_1' };
  return {
    version: 1,
    organisations: [{ id: 'org_1', row_version: 1, row: { id: 'org_1', data_layer: DEFAULT_DATA_LAYER } }],
    pipelines: [
      {
        id: 'pl_1',
        row_version: 1,
        row: { ...pipeline.sample({ id: 'pl_1', org_id: 'org_1' }), pipeline_key_secret: 'sk', tracking_plan: null },
      },
    ],
    integrations: [],
    transformations: steps.map((position) => {
      const id = `trf_${String(position).padStart(3, '0')}`;
      return { id, row_version: 1, row: transformation.sample({ ...owner, id, position, kind: 'rules', rules: rules as never }) };
    }),
    webhook_sources: [],
  };
}

test('pieces beyond the budget of the organisation are disabled with its name, and enabled when there is room again', async () => {
  const all = Array.from({ length: 60 }, (_, i) => i + 1);
  const first = await compileSnapshot(rowsWith(all), SETTINGS, new Map());
  const named = first.faults.filter(({ message }) => message.includes('organisation_pattern_steps'));
  expect(named.length).toBeGreaterThan(5);
  const enabled = 60 - named.length;
  expect(first.snapshot.pipelines.get('pl_1')?.processing.transformations).toHaveLength(enabled);

  const fewer = all.slice(60 - enabled);
  const second = await compileSnapshot(rowsWith(fewer), SETTINGS, first.cache);
  expect(second.faults).toEqual([]);
  expect(second.snapshot.pipelines.get('pl_1')?.processing.transformations).toHaveLength(enabled);
});

test('vendor_syncs of the pipeline reach processing, disabled ones too', async () => {
  const rows = rowsWith([]);
  const [first] = rows.pipelines;
  if (first === undefined) throw new Error('no pipeline');
  const vendor_syncs = { meta: { enabled: false, consent_category: 'marketing' }, tiktok: { enabled: true } };
  const row = { ...first.row, js_builder_config: { ...first.row.js_builder_config, vendor_syncs } };
  const { snapshot } = await compileSnapshot({ ...rows, pipelines: [{ ...first, row }] }, SETTINGS, new Map());
  const compiled = snapshot.pipelines.get('pl_1');
  expect([...(compiled?.processing.id_consent ?? [])]).toEqual([
    ['fbp', ['marketing']],
    ['fbc', ['marketing']],
  ]);
  expect(compiled?.ingest.syncs.map(({ vendor }) => vendor)).toEqual(['tiktok']);
});

test('a vendor sync whose name no vendor has is a warning that names it', async () => {
  const rows = rowsWith([]);
  const [first] = rows.pipelines;
  if (first === undefined) throw new Error('no pipeline');
  const vendor_syncs = { facebok: { enabled: true }, facebook: {}, ga4: { enabled: false }, meta: {} };
  const row = {
    ...first.row,
    js_builder_config: { ...first.row.js_builder_config, vendor_syncs },
    identity_config: { ...first.row.identity_config, vendor_sync: { constructor: true, tiktok: true } },
  };
  const { snapshot, faults } = await compileSnapshot({ ...rows, pipelines: [{ ...first, row }] }, SETTINGS, new Map());
  expect(faults).toMatchObject([
    {
      severity: 'warning',
      id: 'pl_1',
      message: expect.stringMatching(/^js_builder_config\.vendor_syncs: .*"facebok".*meta, google_analytics/),
    },
    { severity: 'warning', id: 'pl_1', message: expect.stringMatching(/^identity_config\.vendor_sync: .*"constructor"/) },
  ]);
  expect(snapshot.pipelines.get('pl_1')?.ingest.enabled).toBe(first.row.enabled);
});

test('a later change compiles the changed piece only', async () => {
  const rows = rowsWith([1, 2, 3]);
  const first = await compileSnapshot(rows, SETTINGS, new Map());
  const transformations = rows.transformations.map((one) =>
    one.id === 'trf_002' ? { ...one, row_version: 2, row: { ...one.row, name: 'Renamed' } } : one,
  );
  const second = await compileSnapshot({ ...rows, version: 2, transformations }, SETTINGS, first.cache);
  const compiled = ({ snapshot }: typeof first) => snapshot.pipelines.get('pl_1')?.processing.transformations ?? [];
  expect(compiled(second).map((one, i) => one === compiled(first)[i])).toEqual([true, false, true]);
});

test('a changed pipeline keeps its compiled tracking plan until the plan is written', async () => {
  const rows = rowsWith([]);
  const compile = async (row_version: number, plan_version: number, cache: Parameters<typeof compileSnapshot>[2]) => {
    const pipelines = rows.pipelines.map((one) => {
      const tracking_plan = { on_violation: 'drop' as const, events: { A: { required: ['total'] } } };
      return { ...one, row_version, row: { ...one.row, enabled: row_version === 1, tracking_plan, plan_version } };
    });
    const compiled = await compileSnapshot({ ...rows, pipelines }, SETTINGS, cache);
    return { ...compiled, pipeline: compiled.snapshot.pipelines.get('pl_1') };
  };
  const first = await compile(1, 1, new Map());
  const disabled = await compile(2, 1, first.cache);
  const planned = await compile(3, 3, disabled.cache);
  expect([first, disabled].map(({ pipeline: { pipeline } = {} }) => pipeline?.enabled)).toEqual([true, false]);
  expect(first.pipeline?.processing.tracking_plan?.events.size).toBe(1);
  expect(disabled.pipeline?.processing.tracking_plan).toBe(first.pipeline?.processing.tracking_plan);
  expect(planned.pipeline?.processing.tracking_plan).not.toBe(first.pipeline?.processing.tracking_plan);
});

test.each([
  ['webhook', { url: 'https://example.com' }, null, 8],
  ['webhook', { url: 'https://example.com' }, 100, 100],
  ['redis', { url: 'redis://example.com', stream: 's' }, 100, 1],
])('%s %j with max_in_flight %j has %j requests in flight', async (vendor, config, max_in_flight, expected) => {
  await loadVendors([vendor]);
  const row = { ...integration.sample({ vendor, delivery_mode: 'server_side', max_in_flight }), config };
  expect(await compileIntegration(row, { parameters: {}, sealed: [] }, SETTINGS, () => undefined)).toMatchObject({
    faults: [],
    vendor: { concurrency: expected },
  });
});

const WEBHOOK = { vendor: 'webhook', delivery_mode: 'server_side', org_id: 'org_1', pipeline_id: 'pl_1' } as const;
const NO_PARAMETERS = { parameters: {}, sealed: [] };

test('integrations that share a config share the compiled vendor, but not their own limits', async () => {
  await loadVendors(['webhook']);
  const config = { url: 'https://example.com', auth_token: 'a very secret token' };
  const compile = (max_in_flight: number) =>
    compileIntegration({ ...integration.sample({ ...WEBHOOK, max_in_flight }), config }, NO_PARAMETERS, SETTINGS, () => undefined);
  const [one, other] = [await compile(10), await compile(20)];
  expect(other.vendor?.build).toBe(one.vendor?.build);
  expect([one, other].map(({ vendor, secrets }) => [vendor?.concurrency, secrets])).toEqual([
    [10, ['a very secret token']],
    [20, ['a very secret token']],
  ]);
});

test('a shared config with placeholders is compiled with the parameters of each pipeline', async () => {
  await loadVendors(['webhook']);
  const config = { url: 'https://example.com/{{pipeline_param.SHOP}}' };
  const compile = (parameters: Record<string, string>) =>
    compileIntegration({ ...integration.sample(WEBHOOK), config }, { parameters, sealed: [] }, SETTINGS, () => undefined);
  const compiled = await Promise.all([{ SHOP: 'a' }, { SHOP: 'b' }].map(compile));
  expect(compiled.map((each) => each.config)).toEqual([{ url: 'https://example.com/a' }, { url: 'https://example.com/b' }]);
});

test("a parameter in a string of a webhook's template is escaped", async () => {
  await loadVendors(['webhook']);
  const config = { url: 'https://example.com', payload_format: 'custom', payload_template: '{"shop":"{{pipeline_param.SHOP}}"}' };
  const parameters = { SHOP: 'The "Shop"' };
  const stored = { ...integration.sample(WEBHOOK), config };
  const compiled = await compileIntegration(stored, { parameters, sealed: [] }, SETTINGS, () => undefined);
  expect(compiled.config.payload_template).toBe(String.raw`{"shop":"The \"Shop\""}`);
});

test('a shared config masks the secret parameters of its own pipeline only', async () => {
  await loadVendors(['webhook']);
  const config = { url: 'https://example.com' };
  const compile = (SHOP_TOKEN: string) =>
    compileIntegration({ ...integration.sample(WEBHOOK), config }, { parameters: { SHOP_TOKEN }, sealed: [] }, SETTINGS, () => undefined);
  const [one, other] = [await compile('token-of-one'), await compile('token-of-other')];
  expect([one.secrets, other.secrets]).toEqual([['token-of-one'], ['token-of-other']]);
  expect(other.vendor?.read).not.toBe(one.vendor?.read);
});

test('a process without management and delivery compiles no vendor, and finds no fault in one', async () => {
  const rows = rowsWith([]);
  const row = { ...integration.sample({ ...WEBHOOK, id: 'int_1', vendor: 'no_such_vendor' }), config: {} };
  const integrations = [{ id: 'int_1', row_version: 1, row }];
  const { snapshot, faults } = await compileSnapshot({ ...rows, integrations }, { ...SETTINGS, compilesVendors: false }, new Map());
  expect(faults).toEqual([]);
  expect(snapshot.integrations.get('int_1')?.integration.id).toBe('int_1');
});

test('a missing parameter is warned of once', async () => {
  await loadVendors(['webhook']);
  const config = { url: 'https://example.com', headers: { 'X-Shop': '{{pipeline_param.SHOP}}' } };
  const logged: string[] = [];
  const report = (_level: string, message: string) => void logged.push(message);
  const { warnings } = await compileIntegration({ ...integration.sample(WEBHOOK), config }, NO_PARAMETERS, SETTINGS, report);
  expect(warnings).toEqual(['The pipeline has no parameter SHOP: {{pipeline_param.SHOP}} is left as written.']);
  expect(logged).toEqual(warnings);
});
