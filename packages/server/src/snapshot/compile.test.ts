import { loadVendors } from '@firsthand/catalog/index.ts';
import { integration } from '@firsthand/core/config/integration.ts';
import { pipeline } from '@firsthand/core/config/pipeline.ts';
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { expect, test } from 'vitest';
import { type CompleteRows, compileIntegration, compileSnapshot } from './compile.ts';

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
