import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { describeEventLog } from './conformance.ts';
import { type LmdbLog, openLmdbLog } from './lmdb.ts';

const WINDOW_MS = 3_000;
const path = mkdtempSync(join(tmpdir(), 'firsthand-lmdb-'));
let log: LmdbLog;
const open = async () => {
  log = await openLmdbLog({ path, dedupWindowMs: WINDOW_MS });
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
  dedupWindowMs: WINDOW_MS,
}));
