import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { describeEventLog } from './conformance/index.ts';
import { type LmdbLog, openLmdbLog } from './lmdb.ts';

const path = mkdtempSync(join(tmpdir(), 'firsthand-lmdb-'));
let log: LmdbLog;
const open = async () => {
  log = await openLmdbLog({ path, dedupWindowMs: 3_600_000 });
};
beforeAll(open);
afterAll(async () => {
  await log.close();
  rmSync(path, { recursive: true, force: true });
});

describeEventLog('LMDB', () => ({
  log: () => log,
  async reopen() {
    await log.close();
    await open();
  },
  async withWindow(dedupWindowMs) {
    const own = mkdtempSync(join(tmpdir(), 'firsthand-lmdb-'));
    const short = await openLmdbLog({ path: own, dedupWindowMs });
    onTestFinished(async () => {
      await short.close();
      rmSync(own, { recursive: true, force: true });
    });
    return short;
  },
}));
