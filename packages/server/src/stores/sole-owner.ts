/**
 * The embedded stores are one process's own: a second one knows nothing of what the first has in memory, delivers repeats as new
 * and can write over what the first has just accepted. So the folder is held by a lock of the file system. The kernel lets it go
 * when the process ends, however it ends.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A process that is told to stop needs a moment: its successor waits that long. */
const WAIT_MS = 5_000;
const SQLITE_BUSY = 5;

export function ownAlone(dataDir: string, waitMs = WAIT_MS): { close(): Promise<void> } {
  const lock = new DatabaseSync(join(dataDir, 'running.lock'), { timeout: waitMs });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new Error('another process works in this folder: stop it first, or give this one a folder of its own', { cause: error });
  }
  return { close: async () => lock.close() };
}
