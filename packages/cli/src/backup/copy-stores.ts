import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { backup as copyPages, DatabaseSync } from 'node:sqlite';
import type { Settings } from '@firsthand/server/config.ts';
import { openEnvironment } from '@firsthand/server/stores/event-log/lmdb/environment.ts';
import { EMBEDDED } from '../embedded.ts';

/**
 * Copies the stores while the service runs. Each copy is a consistent snapshot. The log is copied first and the configuration last:
 * events of a pipeline that the configuration does not know would be lost, but a pipeline whose latest events are missing does no harm.
 *
 * @param layout `compact` leaves out free pages. `as_is` keeps every page in its place, so that two copies differ only where data changed.
 */
export async function copyStores(
  { dataDir, natsUrl }: Pick<Settings, 'dataDir' | 'natsUrl'>,
  to: string,
  layout: 'compact' | 'as_is',
): Promise<string[]> {
  const copied: string[] = [];
  if (natsUrl === undefined && existsSync(join(dataDir, EMBEDDED.log))) {
    await copyLog(join(dataDir, EMBEDDED.log), join(to, EMBEDDED.log), layout === 'compact');
    copied.push(EMBEDDED.log);
  }
  for (const file of [EMBEDDED.observe, EMBEDDED.config]) {
    if (!existsSync(join(dataDir, file))) continue;
    await copySqlite(join(dataDir, file), join(to, file), layout === 'compact');
    copied.push(file);
  }
  if (existsSync(join(dataDir, EMBEDDED.secretKey))) {
    copyFileSync(join(dataDir, EMBEDDED.secretKey), join(to, EMBEDDED.secretKey));
    copied.push(EMBEDDED.secretKey);
  }
  return copied;
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
  } finally {
    database.close();
  }
}
