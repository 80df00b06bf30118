/**
 * A folder that holds many backups and stores what they share once. Files are cut into chunks named by their SHA-256; a backup is a
 * list of chunks. Chunks never change, so `rsync` or `aws s3 sync` carries away only what is new.
 *
 *     repository.json                 the format
 *     chunks/ab/ab12….zst             a chunk of up to 1 MiB, compressed
 *     backups/2026-11-16T….json       the files of one backup, written last
 *     running.lock                    locked while a backup or prune runs
 */
import { createHash, hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { makeFolder } from '@firsthand/server/stores/make-folder.ts';
import { VERSION } from '@firsthand/server/version.ts';
import { alone } from '../embedded.ts';
import { CommandError } from '../failure.ts';
import { listFiles } from './manifest.ts';

const REPOSITORY_FILE = 'repository.json';
const FORMAT = 1;
/** A multiple of the page size of both stores, so that a changed page changes one chunk. */
const CHUNK_BYTES = 1_048_576;

interface StoredFile {
  path: string;
  bytes: number;
  sha256: string;
  chunks: string[];
}
export interface StoredBackup {
  format: number;
  firsthand_version: string;
  created_at: string;
  files: StoredFile[];
}
export interface Added {
  name: string;
  bytes: number;
  /** Of the chunks that were not there before, compressed. */
  bytes_added: number;
}

export function isRepository(folder: string): boolean {
  return existsSync(join(folder, REPOSITORY_FILE));
}

/** Creates it where the folder is new or empty. */
export function openRepository(folder: string): void {
  makeFolder(folder);
  const file = join(folder, REPOSITORY_FILE);
  if (!existsSync(file)) {
    if (readdirSync(folder).length > 0) throw new CommandError(`${folder} is neither empty nor a backup repository.`);
    for (const name of ['chunks', 'backups']) mkdirSync(join(folder, name), { mode: 0o700 });
    writeWhole(file, `${JSON.stringify({ format: FORMAT })}\n`);
  }
  const { format } = readJson<{ format: number }>(file);
  if (format !== FORMAT) throw new CommandError(`${folder} has format ${format}, this version reads ${FORMAT}.`);
}

/** One backup or prune at a time: a prune removes chunks that no finished backup names. */
export function withRepository<T>(repository: string, work: () => Promise<T>): Promise<T> {
  return alone(repository, `Another backup or prune uses ${repository}: wait until it has ended.`, work);
}

/** Adds the files of a folder as one backup. */
export function addBackup(repository: string, folder: string, createdAt: Date): Added {
  let bytesAdded = 0;
  const files = listFiles(folder).map((path): StoredFile => {
    const whole = createHash('sha256');
    const chunks: string[] = [];
    let bytes = 0;
    for (const chunk of chunksOf(join(folder, path))) {
      whole.update(chunk);
      bytes += chunk.length;
      const id = hash('sha256', chunk);
      chunks.push(id);
      const to = chunkFile(repository, id);
      if (existsSync(to)) continue;
      const packed = zstdCompressSync(chunk);
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      writeWhole(to, packed);
      bytesAdded += packed.length;
    }
    return { path, bytes, sha256: whole.digest('hex'), chunks };
  });
  const backup: StoredBackup = { format: FORMAT, firsthand_version: VERSION, created_at: createdAt.toISOString(), files };
  const name = backup.created_at.replace(/[:.]/g, '-');
  writeWhole(backupFile(repository, name), JSON.stringify(backup));
  return { name, bytes: sizeOf(backup), bytes_added: bytesAdded };
}

/** Oldest first. */
export function listBackups(repository: string): string[] {
  return readdirSync(join(repository, 'backups'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort();
}

/** @param name the newest one when undefined */
export function readBackup(repository: string, name: string | undefined): { name: string; backup: StoredBackup } {
  const names = listBackups(repository);
  const chosen = name ?? names.at(-1);
  if (chosen === undefined) throw new CommandError(`${repository} holds no backup yet.`);
  if (!names.includes(chosen)) throw new CommandError(`${repository} holds no backup ${chosen}. It holds: ${names.join(', ') || 'none'}.`);
  const backup = readJson<StoredBackup>(backupFile(repository, chosen));
  if (!Array.isArray(backup.files) || !backup.files.every(isStoredFile))
    throw new CommandError(`${backupFile(repository, chosen)} is damaged.`);
  return { name: chosen, backup };
}

/** Writes the files of a backup into a folder. Refuses damaged and missing chunks. */
export function extractBackup(repository: string, backup: StoredBackup, to: string): void {
  for (const { path, chunks, sha256 } of backup.files) {
    const whole = createHash('sha256');
    const target = join(to, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const file = openSync(target, 'wx', 0o600);
    try {
      for (const id of chunks) {
        const chunk = readChunk(repository, id);
        if (typeof chunk === 'string') throw new CommandError(`The backup is damaged; nothing was changed.\n${path}: ${chunk}`);
        whole.update(chunk);
        writeSync(file, chunk);
      }
    } finally {
      closeSync(file);
    }
    if (whole.digest('hex') !== sha256)
      throw new CommandError(`The backup is damaged; nothing was changed.\n${path}: its checksum is not the backup's`);
  }
}

/** One line per fault in the chunks of these backups. */
export function checkChunks(repository: string, names: readonly string[]): string[] {
  const faults = new Set<string>();
  const checked = new Set<string>();
  for (const name of names)
    for (const { path, chunks } of readBackup(repository, name).backup.files)
      for (const id of chunks) {
        if (checked.has(id)) continue;
        checked.add(id);
        const chunk = readChunk(repository, id);
        if (typeof chunk === 'string') faults.add(`${name} ${path}: ${chunk}`);
      }
  return [...faults];
}

/** Removes all but the newest backups, then the chunks that no backup needs. */
export function pruneBackups(repository: string, keep: number): { removed: string[]; bytes_freed: number } {
  const names = listBackups(repository);
  const removed = names.slice(0, Math.max(0, names.length - keep));
  // All are read before one is removed: a damaged list must not free the chunks of a backup that stays.
  const needed = new Set(
    names.slice(removed.length).flatMap((name) => readBackup(repository, name).backup.files.flatMap(({ chunks }) => chunks)),
  );
  for (const name of removed) rmSync(backupFile(repository, name));
  let freed = 0;
  for (const folder of readdirSync(join(repository, 'chunks')))
    for (const file of readdirSync(join(repository, 'chunks', folder))) {
      if (needed.has(file.replace(/\.zst$/, ''))) continue;
      const path = join(repository, 'chunks', folder, file);
      freed += statSync(path).size;
      rmSync(path);
    }
  return { removed, bytes_freed: freed };
}

export function sizeOf({ files }: StoredBackup): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The chunk, or what is wrong with it. */
function readChunk(repository: string, id: string): Buffer | string {
  const file = chunkFile(repository, id);
  if (!existsSync(file)) return `chunk ${id} is missing`;
  try {
    const chunk = zstdDecompressSync(readFileSync(file), { maxOutputLength: CHUNK_BYTES });
    return hash('sha256', chunk) === id ? chunk : `chunk ${id} is damaged`;
  } catch (error) {
    return `chunk ${id} is damaged (${error instanceof Error ? error.message : String(error)})`;
  }
}

function* chunksOf(path: string): Iterable<Buffer> {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const length = readSync(file, chunk);
      if (length === 0) return;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

/** Complete or absent, also after a power cut. */
function writeWhole(path: string, content: string | Buffer): void {
  const draft = `${path}.draft`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

function chunkFile(repository: string, id: string): string {
  return join(repository, 'chunks', id.slice(0, 2), `${id}.zst`);
}
function backupFile(repository: string, name: string): string {
  return join(repository, 'backups', `${name}.json`);
}
function readJson<T>(path: string): T {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    throw new CommandError(`${path} is damaged: it is not JSON.`);
  }
}
function isStoredFile(file: Partial<StoredFile> | null): boolean {
  return (
    typeof file?.path === 'string' &&
    !file.path.startsWith('/') &&
    !file.path.split('/').includes('..') &&
    typeof file.bytes === 'number' &&
    typeof file.sha256 === 'string' &&
    Array.isArray(file.chunks) &&
    file.chunks.every((id) => /^[0-9a-f]{64}$/.test(id))
  );
}
