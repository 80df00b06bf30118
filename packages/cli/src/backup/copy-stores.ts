import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { backup as copyPages, DatabaseSync } from 'node:sqlite';
import type { Settings } from '@firsthand/server/config.ts';
import { namingFile } from '@firsthand/server/stores/data-dir.ts';
import { openEnvironment } from '@firsthand/server/stores/event-log/lmdb/environment.ts';
import { EMBEDDED } from '../embedded.ts';

/**
 * Copies the stores while the service runs. Each copy is a consistent snapshot. Traces come first, because they hold positions of the log:
 * one that the copied log does not have yet would be given to another event after a restore. The recorder reads the outcomes in between
 * again. The configuration comes last: events of a pipeline that it does not know would be lost, but a pipeline whose latest events are
 * missing does no harm.
 *
 * @param layout `compact` leaves out free pages. `as_is` keeps every page in its place, so that two copies differ only where data changed.
 */
export async function copyStores(
  { dataDir, natsUrl }: Pick<Settings, 'dataDir' | 'natsUrl'>,
  to: string,
  layout: 'compact' | 'as_is',
): Promise<string[]> {
  const copied: string[] = [];
  await copyDatabase(EMBEDDED.observe);
  if (natsUrl === undefined && existsSync(join(dataDir, EMBEDDED.log))) {
    await copyLog(join(dataDir, EMBEDDED.log), join(to, EMBEDDED.log), layout === 'compact');
    copied.push(EMBEDDED.log);
  }
  await copyDatabase(EMBEDDED.config);
  if (existsSync(join(dataDir, EMBEDDED.secretKey))) {
    copyFileSync(join(dataDir, EMBEDDED.secretKey), join(to, EMBEDDED.secretKey));
    copied.push(EMBEDDED.secretKey);
  }
  return copied;

  async function copyDatabase(file: string): Promise<void> {
    if (!existsSync(join(dataDir, file))) return;
    await copySqlite(join(dataDir, file), join(to, file), layout === 'compact');
    copied.push(file);
  }
}

async function copyLog(from: string, to: string, compact: boolean): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const environment = openEnvironment({
    path: from,
    onFatal(error) {
      throw error;
    },
  });
  try {
    await environment.root.backup(to, compact);
  } finally {
    await environment.close();
  }
}

/** All pages in one step: a copy in several steps starts again whenever the service writes. */
const ALL_PAGES = 2 ** 31 - 1;

async function copySqlite(from: string, to: string, compact: boolean): Promise<void> {
  const database = new DatabaseSync(from, { timeout: 5_000 });
  try {
    if (compact) database.prepare('vacuum into ?').run(to);
    else await copyPages(database, to, { rate: ALL_PAGES });
  } catch (error) {
    throw namingFile(from, error);
  } finally {
    database.close();
  }
}
