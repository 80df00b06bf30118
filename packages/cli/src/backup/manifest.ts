import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { VERSION } from '@firsthand/server/version.ts';
import { CommandError } from '../failure.ts';

/** Written last, so a folder with a manifest is a complete backup. */
export const MANIFEST_FILE = 'manifest.json';
/** Of a backup of NATS: the streams in the order of the backup. The bytes of each are in `<name>.snapshot`. */
export const STREAMS_FILE = 'streams.json';
export const isStreamBackup = (folder: string) => existsSync(join(folder, STREAMS_FILE));
const FORMAT = 1;
/** LMDB creates this file whenever a log is opened. It contains no data. */
const LOCK_FILE = 'lock.mdb';

export interface ManifestEntry {
  /** Relative to the backup folder, with forward slashes. */
  path: string;
  bytes: number;
  sha256: string;
}
export interface Manifest {
  format: number;
  firsthand_version: string;
  created_at: string;
  files: ManifestEntry[];
}

export async function writeManifest(folder: string, createdAt: Date): Promise<Manifest> {
  const files: ManifestEntry[] = [];
  for (const path of listFiles(folder)) files.push(await entryOf(folder, path));
  const manifest = { format: FORMAT, firsthand_version: VERSION, created_at: createdAt.toISOString(), files };
  const draft = join(folder, `${MANIFEST_FILE}.draft`);
  writeFileSync(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, join(folder, MANIFEST_FILE));
  return manifest;
}

export async function entryOf(folder: string, path: string): Promise<ManifestEntry> {
  const file = join(folder, path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return { path, bytes: statSync(file).size, sha256: hash.digest('hex') };
}

/** All files of a backup except the manifest, sorted. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).split(sep).filter(Boolean).join(posix.sep))
    .filter((path) => path !== MANIFEST_FILE && !path.endsWith(LOCK_FILE))
    .sort();
}

export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST_FILE);
  if (!existsSync(file))
    throw new CommandError(
      `${folder} has no ${MANIFEST_FILE}: the backup was interrupted, or an older version made it. ` +
        `If you know that it is complete, run \`firsthand backup verify --from ${folder} --write-manifest\`: it checks the databases and the log and writes the manifest.`,
    );
  const manifest = parse(readFileSync(file, 'utf8'));
  if (manifest === undefined) throw new CommandError(`${file} is damaged: it is not a manifest.`);
  if (manifest.format !== FORMAT)
    throw new CommandError(`${file} has format ${manifest.format}, this version reads ${FORMAT}: use the version that made the backup.`);
  return manifest;
}

function parse(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Manifest;
    const sound = Array.isArray(manifest.files) && manifest.files.length > 0 && manifest.files.every(isEntry);
    return sound ? manifest : undefined;
  } catch {
    return undefined;
  }
}
function isEntry(entry: Partial<ManifestEntry> | null): boolean {
  return (
    typeof entry?.path === 'string' &&
    !entry.path.split('/').includes('..') &&
    !entry.path.startsWith('/') &&
    typeof entry.bytes === 'number' &&
    /^[0-9a-f]{64}$/.test(entry.sha256 ?? '')
  );
}
