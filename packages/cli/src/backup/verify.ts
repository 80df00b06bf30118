import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { runsOn } from '@firsthand/server/stores/config/migrate.ts';
import { MIGRATIONS } from '@firsthand/server/stores/config/migrations/index.ts';
import { EMBEDDED } from '../embedded.ts';
import { entryOf, isStreamBackup, listFiles, type Manifest } from './manifest.ts';

/** Returns one line per fault. The list is empty for a sound backup. */
export async function verifyBackup(folder: string, manifest: Manifest): Promise<string[]> {
  const faults = await checkFiles(folder, manifest);
  // Files with a wrong checksum are not opened, because LMDB would trust their pages.
  return faults.length > 0 || isStreamBackup(folder) ? faults : await checkStores(folder);
}

/** Compares sizes and checksums. */
export async function checkFiles(folder: string, manifest: Manifest): Promise<string[]> {
  const faults: string[] = [];
  const present = new Set(listFiles(folder));
  for (const wanted of manifest.files) {
    if (!present.delete(wanted.path)) {
      faults.push(`${wanted.path}: is missing`);
      continue;
    }
    const found = await entryOf(folder, wanted.path);
    if (found.bytes !== wanted.bytes) faults.push(`${wanted.path}: has ${found.bytes} bytes, the manifest says ${wanted.bytes}`);
    else if (found.sha256 !== wanted.sha256) faults.push(`${wanted.path}: its checksum is not the manifest's`);
  }
  for (const path of present) faults.push(`${path}: is not in the manifest`);
  return faults;
}

/** Checks whether the stores can be read, without comparing checksums. */
export async function checkStores(folder: string): Promise<string[]> {
  const faults: string[] = [];
  if (!existsSync(join(folder, EMBEDDED.config))) faults.push(`${EMBEDDED.config}: is missing`);
  for (const file of [EMBEDDED.config, EMBEDDED.observe])
    if (existsSync(join(folder, file))) faults.push(...checkSqlite(join(folder, file)).map((fault) => `${file}: ${fault}`));
  if (existsSync(join(folder, EMBEDDED.log))) {
    const fault = await checkLog(join(folder, EMBEDDED.log));
    if (fault !== undefined) faults.push(`${EMBEDDED.log}: ${fault}`);
  }
  return faults;
}

function checkSqlite(file: string): string[] {
  const url = pathToFileURL(file);
  // Opened without locks or journals, because a backup may be on read-only media.
  url.search = '?immutable=1';
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(url, { readOnly: true });
    const rows = database.prepare('pragma quick_check(5)').all() as { quick_check: string }[];
    const faults = rows.map((row) => row.quick_check).filter((text) => text !== 'ok');
    return faults.length > 0 || !file.endsWith(EMBEDDED.config) ? faults : checkSchema(database);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    database?.close();
  }
}

/** After going back one release, the schema is newer than this version and its stores are sound. */
function checkSchema(database: DatabaseSync): string[] {
  const one = (query: string) => (database.prepare(query).get() as { found: number | null } | undefined)?.found ?? undefined;
  const known = MIGRATIONS.at(-1)?.id ?? 0;
  const schema = one('select max(id) as found from schema_migrations') ?? 0;
  // 0.1.0 did not have this table.
  const hasFloor = one("select 1 as found from sqlite_master where name = 'schema_floor'") !== undefined;
  const oldest = (hasFloor ? one('select oldest as found from schema_floor') : undefined) ?? schema;
  return runsOn({ schema, oldest }, known)
    ? []
    : [`is at schema ${schema}, this version knows ${known} and does not run on it: use the version that wrote it`];
}

const WALK = join(import.meta.dirname, 'walk-log.ts');
/** Runs in a child process, because a damaged LMDB file can crash the process that reads it. */
async function checkLog(folder: string): Promise<string | undefined> {
  if (!existsSync(join(folder, 'data.mdb'))) return 'data.mdb is missing';
  const hadLock = existsSync(join(folder, 'lock.mdb'));
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, [WALK, folder], (error, _out, err) => {
        if (error === null) resolve(undefined);
        else resolve(err.trim() || `cannot be read (the reader ended with ${error.signal ?? error.code})`);
      });
    });
  } finally {
    if (!hadLock) rmSync(join(folder, 'lock.mdb'), { force: true });
  }
}
