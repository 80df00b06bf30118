import { pipeline } from '@firsthand/core/config/pipeline.ts';
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { expect, test } from 'vitest';
import { type CompleteRows, compileSnapshot } from './compile.ts';

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
