import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from '@firsthand/core/config/pipeline.ts';
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOCAL_COPY_FILE, openLocalCopy } from './local-copy.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'firsthand-local-copy-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));
const open = (secretKey = 'the key of this installation') => openLocalCopy({ dataDir, secretKey, now: () => 0 });
const file = () => join(dataDir, LOCAL_COPY_FILE);

const stamps = { created_at: '2026-05-01T00:00:00.000Z', updated_at: '2026-05-01T00:00:00.000Z' };
const ROWS = {
  version: 7,
  urgent_version: 5,
  organisations: [{ id: 'org_1', row_version: 1, row: { id: 'org_1', data_layer: DEFAULT_DATA_LAYER } }],
  pipelines: [
    {
      id: 'pl_1',
      row_version: 6,
      row: {
        ...pipeline.sample({ name: 'Shop', parameters: { TOKEN: 'vendor-credential' } }),
        ...stamps,
        id: 'pl_1',
        org_id: 'org_1',
        pipeline_key: 'pk_1',
        pipeline_key_secret_prefix: 'sk_1',
        pipeline_key_secret: 'sk_12345678',
        tracking_plan: { on_violation: 'allow' as const, events: {} },
      },
    },
  ],
  webhook_sources: [
    {
      id: 'whs_1',
      row_version: 3,
      row: { ...webhookSource.sample({}), ...stamps, id: 'whs_1', org_id: 'org_1', pipeline_id: 'pl_1', signing_secret: 'signing' },
    },
  ],
};

test('there is no copy at first; what is written is read, without what ingest does not need', async () => {
  expect(await open().read()).toBeUndefined();
  await open().write(ROWS as unknown as Parameters<ReturnType<typeof open>['write']>[0]); // samples lack fields that only the store fills
  const saved = await open().read();
  expect(saved).toMatchObject({ saved_at: '1970-01-01T00:00:00.000Z', rows: { version: 7, urgent_version: 5, integrations: [] } });
  expect(saved?.rows.pipelines).toEqual([
    { ...ROWS.pipelines[0], row: { ...ROWS.pipelines[0]?.row, parameters: {}, tracking_plan: null } },
  ]);
  expect(saved?.rows.webhook_sources).toEqual(ROWS.webhook_sources);
  expect(readdirSync(dataDir), 'no draft is left').toEqual([LOCAL_COPY_FILE]);
});

test('only the user of the service can read the file, and nobody without SECRET_KEY', async () => {
  await open().write(ROWS as unknown as Parameters<ReturnType<typeof open>['write']>[0]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(readFileSync(file(), 'utf8')).not.toContain('sk_12345678');
  await expect(open('the key of another place').read()).rejects.toThrow(/another SECRET_KEY or is damaged/);
});

test.each(['', 'v1.AAAA', 'not sealed'])('a damaged file (%j) is an error, not a configuration', async (text) => {
  writeFileSync(file(), text);
  await expect(open().read()).rejects.toThrow(/damaged/);
});
