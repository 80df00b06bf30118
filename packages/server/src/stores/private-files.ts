/** The embedded stores contain events, password hashes and keys, so only the service's user may read them. */
import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Call once, before anything is opened: SQLite and LMDB create their files with the process's umask. */
export function createFilesPrivately(): void {
  process.umask(0o077);
}

const FILES = ['config.sqlite', 'ingest-configuration', 'observe.sqlite', 'running.lock', 'secret-key', 'secret-key.next'];
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/**
 * Restricts files that an earlier version created with mode 0644. Touches only our own file names, because DATA_DIR may contain other
 * files. Returns the paths that this user may not change.
 */
export function tightenDataDir(dataDir: string): string[] {
  const files = FILES.flatMap((name) => SUFFIXES.map((suffix) => join(dataDir, `${name}${suffix}`)));
  const log = join(dataDir, 'log');
  const logFiles = existsSync(log) ? readdirSync(log).map((name) => join(log, name)) : [];
  return [log, ...logFiles, ...files].filter((path) => existsSync(path) && !tighten(path));
}

function tighten(path: string): boolean {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink() || (stat.mode & 0o077) === 0) return true;
  try {
    chmodSync(path, stat.isDirectory() ? 0o700 : 0o600);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return false;
    throw error;
  }
}
