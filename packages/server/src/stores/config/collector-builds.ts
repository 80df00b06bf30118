/**
 * Builds of the collector. A row starts as a request (`building`) and becomes a file (`ready`) or an error (`failed`); `row_version`
 * orders the builds of a pipeline. Requests are the builder's queue, so they survive the process that took them.
 */
import type { CollectorBuildRow, Db, Stamp } from './schema.ts';

export interface QueuedBuild {
  id: string;
  org_id: string;
  pipeline_id: string;
  row_version: number;
}
/** A build that can be served, without its content. */
export interface BuiltFile {
  id: string;
  script_filename: string;
  version_hash: string;
  file_size_bytes: number;
  built_at: string;
}
export interface BuildState {
  building: boolean;
  ready: BuiltFile | undefined;
  /** Why the newest finished build failed; undefined if it succeeded. */
  error: string | undefined;
}
export interface FinishedBuild {
  script_filename: string;
  version_hash: string;
  file_size_bytes: number;
  source: string;
  source_map: string;
}

/**
 * Number of distinct files per file name that a pipeline keeps at their immutable addresses. Generous, because a page with a pinned tag
 * breaks when its file is removed. The files are small; the large source maps are kept only for the newest.
 */
export const KEPT_FILES = 50;
const KEPT_FAILURES = 5;
const FILE_COLUMNS = ['id', 'script_filename', 'version_hash', 'file_size_bytes', 'built_at'] as const;

export async function queueBuild(
  tx: Db,
  build: { id: string; org_id: string; pipeline_id: string; script_filename: string; created_by: string },
  stamp: Stamp,
): Promise<void> {
  await tx
    .insertInto('collector_builds')
    .values({
      ...build,
      status: 'building',
      version_hash: null,
      file_size_bytes: null,
      source: null,
      source_map: null,
      error: null,
      created_at: stamp.now,
      built_at: null,
      row_version: stamp.row_version,
    })
    .execute();
}

/** Takes the newest request of the pipeline that has waited longest. Its older requests asked for the same file and are deleted. */
export async function takeNextBuild(db: Db): Promise<QueuedBuild | undefined> {
  const columns = ['id', 'org_id', 'pipeline_id', 'row_version'] as const;
  const waiting = () => db.selectFrom('collector_builds').select(columns).where('status', '=', 'building');
  const first = await waiting().orderBy('row_version').limit(1).executeTakeFirst();
  if (first === undefined) return undefined;
  const newest = await waiting()
    .where('pipeline_id', '=', first.pipeline_id)
    .orderBy('row_version', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  if (newest.id !== first.id)
    await db
      .deleteFrom('collector_builds')
      .where('pipeline_id', '=', newest.pipeline_id)
      .where('status', '=', 'building')
      .where('row_version', '<', newest.row_version)
      .execute();
  return newest;
}

/** Publishes the new file and drops the content of files beyond `KEPT_FILES`, in one transaction. */
export async function finishBuild(db: Db, build: QueuedBuild, file: FinishedBuild, now: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('collector_builds')
      .set({ ...file, status: 'ready', error: null, built_at: now })
      .where('id', '=', build.id)
      .where('status', '=', 'building')
      .execute();
    await emptyOldFiles(tx, build.pipeline_id);
    await forgetFailures(tx, build);
  });
}

export async function failBuild(db: Db, build: QueuedBuild, error: string, now: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('collector_builds')
      .set({ status: 'failed', error, built_at: now })
      .where('id', '=', build.id)
      .where('status', '=', 'building')
      .execute();
    await forgetFailures(tx, build);
  });
}

async function emptyOldFiles(tx: Db, pipelineId: string): Promise<void> {
  const kept = new Map<string, Set<string>>();
  const old: string[] = [];
  const files = await listFiles(tx, pipelineId);
  for (const { id, script_filename, version_hash } of files) {
    const hashes = kept.get(script_filename) ?? new Set();
    kept.set(script_filename, hashes);
    if (hashes.size < KEPT_FILES && !hashes.has(version_hash)) hashes.add(version_hash);
    else old.push(id);
  }
  const rows = tx.updateTable('collector_builds').where('pipeline_id', '=', pipelineId);
  if (old.length > 0) await rows.set({ source: null }).where('id', 'in', old).execute();
  const [newest] = files;
  if (newest) await rows.set({ source_map: null }).where('id', '!=', newest.id).where('source_map', 'is not', null).execute();
}

/** Bounds the table for a pipeline whose builds keep failing. */
async function forgetFailures(tx: Db, { pipeline_id }: QueuedBuild): Promise<void> {
  const failures = tx.selectFrom('collector_builds').where('pipeline_id', '=', pipeline_id).where('status', '=', 'failed');
  const oldest = await failures.select('row_version').orderBy('row_version', 'desc').offset(KEPT_FAILURES).limit(1).executeTakeFirst();
  if (oldest === undefined) return;
  await tx
    .deleteFrom('collector_builds')
    .where('pipeline_id', '=', pipeline_id)
    .where('status', '=', 'failed')
    .where('row_version', '<=', oldest.row_version)
    .execute();
}

export async function readBuildState(db: Db, orgId: string, pipelineId: string): Promise<BuildState> {
  const newest = (status: CollectorBuildRow['status']) =>
    db
      .selectFrom('collector_builds')
      .select(['row_version', 'error', ...FILE_COLUMNS])
      .where('org_id', '=', orgId)
      .where('pipeline_id', '=', pipelineId)
      .where('status', '=', status)
      .orderBy('row_version', 'desc')
      .limit(1)
      .executeTakeFirst();
  // Query this first: a build that finishes in between is then reported as building, never as missing.
  const building = await newest('building');
  const ready = await newest('ready');
  const failed = await newest('failed');
  const isNewest = failed !== undefined && failed.row_version > (ready?.row_version ?? 0);
  return { building: building !== undefined, ready: ready && toFile(ready), error: isNewest ? (failed.error ?? undefined) : undefined };
}

/** All files served for the pipeline, newest first. */
export async function listFiles(db: Db, pipelineId: string): Promise<BuiltFile[]> {
  const rows = await db
    .selectFrom('collector_builds')
    .select(FILE_COLUMNS)
    .where('pipeline_id', '=', pipelineId)
    .where('status', '=', 'ready')
    .where('source', 'is not', null)
    .orderBy('row_version', 'desc')
    .execute();
  return rows.map(toFile);
}

export async function readSource(db: Db, buildId: string): Promise<{ source: string; source_map: string } | undefined> {
  const row = await db.selectFrom('collector_builds').select(['source', 'source_map']).where('id', '=', buildId).executeTakeFirst();
  return row?.source == null ? undefined : { source: row.source, source_map: row.source_map ?? '' };
}

/** A `ready` row has all these columns. */
function toFile(row: { [K in (typeof FILE_COLUMNS)[number]]: BuiltFile[K] | null }): BuiltFile {
  return row as BuiltFile;
}
