import { expect, test } from 'vitest';
import { RefusedError } from '../../api-client.ts';
import { installation, lacksAccountOnly, type Wanted } from './installation.ts';

const WANTED: Wanted = { template: { name: 'Meta', variant: 'default', config: {} }, pipelines: ['pl_1', 'pl_2'], consent_category: null };

function service() {
  const calls: string[] = [];
  const broken = new Set<string>();
  let templates = 0;
  const run = installation('meta', {
    async install() {
      calls.push('install');
      return `tpl_${++templates}`;
    },
    async assign(pipeline_id, templateId) {
      calls.push(`${pipeline_id} ${templateId}`);
      if (broken.has(pipeline_id)) throw new Error('unavailable');
      return { id: `int of ${pipeline_id}`, name: 'Meta', pipeline_id };
    },
  });
  return { calls, broken, run };
}

test('a half-failed installation that is repeated assigns no pipeline twice and makes no second template', async () => {
  const { calls, broken, run } = service();
  broken.add('pl_2');
  await expect(run(WANTED)).rejects.toThrow('unavailable');
  broken.clear();
  const { templateId, integrations } = await run(WANTED);
  expect(calls).toEqual(['install', 'pl_1 tpl_1', 'pl_2 tpl_1', 'pl_2 tpl_1']);
  expect([templateId, integrations.map(({ pipeline_id }) => pipeline_id)]).toEqual(['tpl_1', ['pl_1', 'pl_2']]);
});
test('a corrected setting makes a new template for the pipelines that are left', async () => {
  const { calls, broken, run } = service();
  broken.add('pl_2');
  await expect(run(WANTED)).rejects.toThrow('unavailable');
  broken.clear();
  await run({ ...WANTED, template: { ...WANTED.template, config: { pixel_id: '1' } } });
  expect(calls.slice(3)).toEqual(['install', 'pl_2 tpl_2']);
});
test('a vendor whose account is connected later is installed without its pipelines', async () => {
  const run = installation('google_ads', { install: async () => 'tpl_1', assign: async () => undefined });
  expect(await run(WANTED)).toEqual({ templateId: 'tpl_1', integrations: [] });
});
test.each([
  [['config.refresh_token'], true],
  [['/config/refresh_token'], true],
  [['refresh_token', 'client_id'], false],
  [[], false],
])('a refusal for %j lacks the account only: %s', (fields, expected) => {
  const details = fields.map((field) => ({ field, message: 'is required' }));
  expect(lacksAccountOnly(new RefusedError({ error: { code: 'VALIDATION_ERROR', message: 'Invalid.', details } } as never))).toBe(expected);
});
