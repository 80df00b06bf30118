/**
 * Refuses a DATA_DIR that the service cannot use, or that has lost some of its files, before anything is opened or created in it: a new,
 * empty store beside the old ones would hide the loss.
 */
import { accessSync, constants, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Db } from './config/schema.ts';
import { EMPTY_FILE_BYTES, logFileFault } from './event-log/lmdb/file-fault.ts';
import { makeFolder } from './make-folder.ts';
import { OBSERVE_FILE } from './observe/tables.ts';

export const SQLITE_FILE = 'config.sqlite';

/** For the operator: names the file and what to do. */
export class StoreFault extends Error {
  constructor(path: string, fault: string, options?: ErrorOptions) {
    super(`DATA_DIR: ${path} ${fault}`, options);
  }
}

const REMEDY = 'Stop the service and restore a backup (firsthand restore, see docs/guides/operations/backup.md).';
const LOG_FILE = join('log', 'data.mdb');
const FILES = [SQLITE_FILE, OBSERVE_FILE, 'log', LOG_FILE, join('log', 'lock.mdb'), 'running.lock', 'secret-key'];
/** The operator makes this file to begin with empty stores in place of lost ones. */
const BEGIN_EMPTY = 'begin-empty';

/** Makes the folder where there is none. */
export function requireDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (error) {
    throw unusable(dataDir, error);
  }
  for (const path of [dataDir, ...FILES.map((name) => join(dataDir, name))]) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (path === dataDir && !stat.isDirectory()) throw new StoreFault(path, 'is not a folder: set another DATA_DIR');
    try {
      accessSync(path, constants.R_OK | constants.W_OK | (stat.isDirectory() ? constants.X_OK : 0));
    } catch (error) {
      throw unusable(path, error);
    }
  }
}
function unusable(path: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' || code === 'ENOTDIR') return new StoreFault(path, 'is not a folder: set another DATA_DIR', { cause: error });
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new StoreFault(path, `cannot be read and written by this user (${code}): change its owner, or set another DATA_DIR`, {
      cause: error,
    });
  // As from /proc: the folder above it exists.
  if (code === 'ENOENT') return new StoreFault(path, 'cannot be created in this file system: set another DATA_DIR', { cause: error });
  return error as Error;
}

/** Call before `config.sqlite` is opened, which creates it. */
export function requireConfiguration(dataDir: string): void {
  const file = join(dataDir, SQLITE_FILE);
  if (sizeOf(file) > 0) return;
  const other = [OBSERVE_FILE, LOG_FILE].find((name) => !isEmpty(dataDir, name));
  if (other !== undefined) throw new StoreFault(file, `is ${existsSync(file) ? 'empty' : 'missing'}, but ${other} is there. ${REMEDY}`);
}

/** Refuses if a store is lost that `noteStores` has noted. Reads only: another process may be at work on the folder. */
export async function requireStores(dataDir: string, db: Db, { log }: { log: boolean }): Promise<void> {
  const noted = await notedStores(db);
  const mayBeginEmpty = existsSync(join(dataDir, BEGIN_EMPTY));
  for (const name of storesOf(log)) {
    const file = join(dataDir, name);
    if (isEmpty(dataDir, name) && noted.has(name) && !mayBeginEmpty)
      throw new StoreFault(file, `is ${existsSync(file) ? 'empty or cut off' : 'missing'}. ${REMEDY}`);
  }
  if (log) requireWholeLog(dataDir);
}

/** Removes what a start left that was killed while it made the file of the log: LMDB does not open it. */
export function removeUnfinished(dataDir: string): void {
  if (isEmpty(dataDir, LOG_FILE)) rmSync(join(dataDir, LOG_FILE), { force: true });
}

export function requireWholeLog(dataDir: string): void {
  const file = join(dataDir, LOG_FILE);
  const fault = isEmpty(dataDir, LOG_FILE) ? undefined : logFileFault(file);
  if (fault !== undefined) throw new StoreFault(file, `is damaged: ${fault}. ${REMEDY}`);
}

/** The stores are there: from now on, one that is missing was lost. */
export async function noteStores(dataDir: string, db: Db, { log, now }: { log: boolean; now: number }): Promise<void> {
  const noted = await notedStores(db);
  const noted_at = new Date(now).toISOString();
  const rows = storesOf(log).flatMap((name) => (noted.has(name) ? [] : [{ name, noted_at }]));
  if (rows.length > 0) await db.insertInto('embedded_stores').values(rows).execute();
  rmSync(join(dataDir, BEGIN_EMPTY), { force: true });
}

const storesOf = (log: boolean) => (log ? [OBSERVE_FILE, LOG_FILE] : [OBSERVE_FILE]);
async function notedStores(db: Db): Promise<Set<string>> {
  // A backup reads a database that an earlier version wrote.
  const { rows } = await sql`select 1 from sqlite_master where type = 'table' and name = 'embedded_stores'`.execute(db);
  if (rows.length === 0) return new Set();
  return new Set((await db.selectFrom('embedded_stores').select('name').execute()).map(({ name }) => name));
}
function isEmpty(dataDir: string, name: string): boolean {
  return sizeOf(join(dataDir, name)) < (name === LOG_FILE ? EMPTY_FILE_BYTES : 1);
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOT_A_DATABASE = 26;

/** Of a SQLite file: an error that says the file is damaged names it. */
export function namingFile(file: string, error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: number; message?: string };
  const isDamaged = code === 'ERR_SQLITE_ERROR' && [SQLITE_CORRUPT, SQLITE_NOT_A_DATABASE].includes((errcode ?? 0) & 0xff);
  return isDamaged ? new StoreFault(file, `is damaged: ${message}. ${REMEDY}`, { cause: error }) : error;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
