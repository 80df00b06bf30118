/**
 * Embedded stores belong to one process. A second one would not see the first one's memory: it would deliver duplicates and could
 * overwrite accepted events. So a file lock guards the directory. The kernel releases it when the process ends, even after a crash.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreFault } from './data-dir.ts';

/** How long to wait for a predecessor that is still draining. */
const WAIT_MS = 5_000;
const SQLITE_BUSY = 5;
const SQLITE_NOT_A_DATABASE = 26;

export function ownAlone(dataDir: string, waitMs = WAIT_MS): { close(): Promise<void> } {
  const lock = new DatabaseSync(join(dataDir, 'running.lock'), { timeout: waitMs });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    const { errcode } = error as { errcode?: number };
    // Nothing is ever written to it.
    if (errcode === SQLITE_NOT_A_DATABASE) throw new StoreFault(join(dataDir, 'running.lock'), 'is damaged: remove it', { cause: error });
    if (errcode !== SQLITE_BUSY) throw error;
    throw new Error('another process is using this folder: stop it, or set another DATA_DIR', { cause: error });
  }
  return { close: async () => lock.close() };
}
