import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { collect, records } from '../conformance/kit.ts';
import { type LmdbLog, type LmdbLogOptions, openLmdbLog } from '../lmdb.ts';

const topic = 'events.old';

async function open(options: Partial<LmdbLogOptions> = {}): Promise<LmdbLog> {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-expire-'));
  const log = await openLmdbLog({ path, dedupWindowMs: 60_000, ...options });
  onTestFinished(async () => {
    await log.close();
    rmSync(path, { recursive: true, force: true });
  });
  return log;
}
const ids = async (log: LmdbLog) => (await collect(log.read(topic, { limit: 1_000 }))).map(({ id }) => id);

test('an invalid date expires nothing', async () => {
  const log = await open();
  await log.append([{ topic, records: records(topic, 3) }]);
  expect(await log.expire(topic, new Date(Number.NaN))).toBe(0);
  expect(await ids(log)).toHaveLength(3);
});
