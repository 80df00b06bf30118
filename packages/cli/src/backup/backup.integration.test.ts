import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@firsthand/server/runtime/clock.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';
import { ownAlone } from '@firsthand/server/stores/sole-owner.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFiles } from './manifest.ts';
import { readBackup } from './repository.ts';

const MAIN = join(import.meta.dirname, '../firsthand.js');
const folder = mkdtempSync(join(tmpdir(), 'firsthand-backup-'));
const dataDir = join(folder, 'data');
const good = join(folder, 'good');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function firsthand(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, DATA_DIR: dataDir } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

beforeAll(async () => {
  await firsthand('org', 'create', '--name', 'Shop', '--owner-email', 'owner@example.com', '--owner-password', 'a long password');
  const fail = (error: unknown) => {
    throw error;
  };
  const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 60_000, clock: systemClock, onFatal: fail, onError: fail });
  for (let n = 0; n < 20; n++)
    await log.append([
      { topic: 'topic', records: Array.from({ length: 50 }, (_, at) => ({ id: `${n}-${at}`, data: Buffer.alloc(500, n) })) },
    ]);
  await log.close();
  expect((await firsthand('backup', '--to', good)).err).toBe('');
  // The check that no service runs takes the database out of WAL mode, which rewrites its header. Do it once before bytes are compared.
  const damaged = copyOf(good);
  truncateSync(join(damaged, 'config.sqlite'), 4096);
  expect((await firsthand('restore', '--from', damaged)).code).toBe(1);
});

let copies = 0;
function copyOf(backup: string): string {
  const copy = join(folder, `copy-${++copies}`);
  cpSync(backup, copy, { recursive: true });
  return copy;
}
/** Inverts 64 bytes. */
function damage(file: string, at: number): void {
  const bytes = readFileSync(file);
  for (let i = at; i < at + 64; i++) bytes[i] = 255 - (bytes[i] ?? 0);
  writeFileSync(file, bytes);
}
const middle = (file: string) => Math.floor(statSync(file).size / 2);
const snapshotOf = (dir: string) =>
  listFiles(dir).map((path) => [
    path,
    createHash('sha256')
      .update(readFileSync(join(dir, path)))
      .digest('hex'),
  ]);

test('a backup verifies, and only its owner can read it', async () => {
  const verdict = await firsthand('backup', 'verify', '--from', good);
  expect([verdict.code, verdict.err]).toEqual([0, '']);
  expect(JSON.parse(verdict.out)).toMatchObject({ valid: true, files: 3, bytes: expect.any(Number) });
  expect(statSync(good).mode & 0o777).toBe(0o700);
  for (const path of [...listFiles(good), 'manifest.json']) expect([path, statSync(join(good, path)).mode & 0o777]).toEqual([path, 0o600]);
});

const DAMAGED: [name: string, harm: (backup: string) => void, message: RegExp][] = [
  ['a damaged database', (b) => damage(join(b, 'config.sqlite'), middle(join(b, 'config.sqlite'))), /config\.sqlite: its checksum/],
  ['a truncated database', (b) => truncateSync(join(b, 'config.sqlite'), 4096), /config\.sqlite: has 4096 bytes/],
  ['a damaged log', (b) => damage(join(b, 'log/data.mdb'), middle(join(b, 'log/data.mdb'))), /log\/data\.mdb: its checksum/],
  ['a truncated log', (b) => truncateSync(join(b, 'log/data.mdb'), 8192), /log\/data\.mdb: has 8192 bytes/],
  ['a missing key', (b) => rmSync(join(b, 'secret-key')), /secret-key: is missing/],
  ['a file that does not belong', (b) => writeFileSync(join(b, 'observe.sqlite'), 'x'), /observe\.sqlite: is not in the manifest/],
  ['a manifest that is no JSON', (b) => truncateSync(join(b, 'manifest.json'), 20), /manifest\.json is damaged/],
  [
    'a manifest that leaves the folder',
    (b) => writeFileSync(join(b, 'manifest.json'), readFileSync(join(b, 'manifest.json'), 'utf8').replace('config.sqlite', '../x')),
    /manifest\.json is damaged/,
  ],
  [
    'a manifest of another format',
    (b) => writeFileSync(join(b, 'manifest.json'), readFileSync(join(b, 'manifest.json'), 'utf8').replace('"format": 1', '"format": 2')),
    /format 2/,
  ],
];
test.each(DAMAGED)('restore refuses %s and leaves the old data in place', async (_name, harm, message) => {
  const backup = copyOf(good);
  harm(backup);
  const before = snapshotOf(dataDir);
  for (const args of [
    ['backup', 'verify', '--from', backup],
    ['restore', '--from', backup],
  ]) {
    const refused = await firsthand(...args);
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toMatch(message);
  }
  expect(snapshotOf(dataDir)).toEqual(before);
});

// What a checksum cannot see: the damage was there when the manifest was written.
test.each([
  ['database', (b: string) => damage(join(b, 'config.sqlite'), 4096 * 3), /config\.sqlite: /],
  ['log', (b: string) => truncateSync(join(b, 'log/data.mdb'), 4096 * 6), /log: /],
  ['log records', (b: string) => damageRecord(join(b, 'log/data.mdb')), /log: .*damaged block/],
])('a damaged %s without a manifest gets none', async (_name, harm, message) => {
  const backup = copyOf(good);
  rmSync(join(backup, 'manifest.json'));
  harm(backup);
  const refused = await firsthand('backup', 'verify', '--from', backup, '--write-manifest');
  expect([refused.code, refused.out]).toEqual([1, '']);
  expect(refused.err).toMatch(message);
  expect(existsSync(join(backup, 'manifest.json'))).toBe(false);
});
/** Makes the first record of one block claim another length. */
function damageRecord(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(Buffer.alloc(400, 7));
  const header = bytes.lastIndexOf('7-0', at) - 10;
  bytes.writeUInt32BE(501, header + 6);
  writeFileSync(file, bytes);
}

test('restoring an older backup without a manifest explains how to write one, and works after that', async () => {
  const backup = copyOf(good);
  rmSync(join(backup, 'manifest.json'));
  const refused = await firsthand('restore', '--from', backup);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/backup verify --from .* --write-manifest/)]);
  expect((await firsthand('backup', 'verify', '--from', backup, '--write-manifest')).err).toBe('');
  expect((await firsthand('backup', 'verify', '--from', backup, '--write-manifest')).err).toMatch(/not replaced/);
  expect((await firsthand('restore', '--from', backup)).err).toBe('');
});

test('restore refuses the name of another backup than the one folder that it is given', async () => {
  const backup = copyOf(good);
  const before = snapshotOf(dataDir);
  const refused = await firsthand('restore', '--from', backup, '--name', '2026-11-16T00-00-00-000Z');
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^--name: .* is one backup, not a repository/)]);
  expect(snapshotOf(dataDir)).toEqual(before);
});

test('restore replaces a malformed database and tightens the modes of an old backup', async () => {
  const backup = copyOf(good);
  for (const path of listFiles(backup)) chmodSync(join(backup, path), 0o644);
  damage(join(dataDir, 'config.sqlite'), 0);
  const restored = await firsthand('restore', '--from', backup);
  expect(restored.err).toBe('');
  expect(existsSync(join(JSON.parse(restored.out).replaced, 'config.sqlite'))).toBe(true);
  expect(readFileSync(join(dataDir, 'config.sqlite')).equals(readFileSync(join(good, 'config.sqlite')))).toBe(true);
  expect(statSync(join(dataDir, 'config.sqlite')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'log/data.mdb')).mode & 0o777).toBe(0o600);
  expect((await firsthand('audit', 'verify')).code).toBe(0);
  expect(readdirSync(dataDir).filter((name) => name.startsWith('restore-'))).toEqual([]);
});

test('restore removes the copy of one that was killed', async () => {
  mkdirSync(join(dataDir, 'restore-2026-11-16T10-00-00-000Z'));
  expect((await firsthand('restore', '--from', good)).err).toBe('');
  expect(readdirSync(dataDir).filter((name) => name.startsWith('restore-'))).toEqual([]);
});

test('a damaged installation gives no backup', async () => {
  damage(join(dataDir, 'config.sqlite'), 4096 * 3);
  const to = join(folder, 'of-damaged');
  expect((await firsthand('backup', '--to', to)).code).toBe(1);
  expect(readdirSync(to)).toEqual([]);
});

describe('a repository', () => {
  const repository = join(folder, 'repository');
  const chunks = () => listFiles(join(repository, 'chunks'));
  /** The first one of the newest backup. */
  const aChunk = () => {
    const { backup } = readBackup(repository, undefined);
    const id = backup.files[0]?.chunks[0] ?? '';
    return join(repository, 'chunks', id.slice(0, 2), `${id}.zst`);
  };

  test('stores what two backups share once, and restores either', async () => {
    expect((await firsthand('restore', '--from', good)).err).toBe('');
    const first = JSON.parse((await firsthand('backup', '--repository', repository)).out);
    expect(first.bytes_added).toBeGreaterThan(0);
    await firsthand('org', 'create', '--name', 'Second', '--owner-email', 'two@example.com', '--owner-password', 'a long password');
    const second = JSON.parse((await firsthand('backup', '--repository', repository)).out);
    expect(second.bytes_added).toBeLessThan(first.bytes_added);
    expect(existsSync(join(repository, 'incoming'))).toBe(false);
    const verdict = JSON.parse((await firsthand('backup', 'verify', '--from', repository)).out);
    expect(verdict).toMatchObject({ valid: true, backups: [first.name, second.name], newest: second.name });
    for (const [args, organisations] of [
      [['--name', first.name], 1],
      [[], 2],
    ] as const) {
      expect((await firsthand('restore', '--from', repository, ...args)).err).toBe('');
      expect((await firsthand('audit', 'verify')).out.trim().split('\n')).toHaveLength(organisations);
    }
  });

  test('is refused where a chunk is damaged or missing, and changes nothing', async () => {
    const file = aChunk();
    const sound = readFileSync(file);
    rmSync(file);
    // As above: the first check that no service runs rewrites the header of the database.
    expect((await firsthand('restore', '--from', repository)).code).toBe(1);
    const before = snapshotOf(dataDir);
    for (const [harm, message] of [
      [() => undefined, /is missing/],
      [() => damage(file, 8), /is damaged/],
      [() => truncateSync(file, 5), /is damaged/],
    ] as const) {
      harm();
      for (const args of [['backup', 'verify'], ['restore']]) {
        const refused = await firsthand(...args, '--from', repository);
        expect([refused.code, refused.out]).toEqual([1, '']);
        expect(refused.err).toMatch(message);
      }
      writeFileSync(file, sound);
    }
    expect(snapshotOf(dataDir)).toEqual(before);
  });

  test('loses only what no backup needs when it is pruned', async () => {
    writeFileSync(`${aChunk()}.draft`, 'left by a crash');
    const before = chunks().length;
    const pruned = JSON.parse((await firsthand('backup', 'prune', '--repository', repository, '--keep', '1')).out);
    expect(pruned.removed).toHaveLength(1);
    expect(chunks().length).toBeLessThan(before);
    expect((await firsthand('backup', 'verify', '--from', repository)).code).toBe(0);
  });

  test('is used by one backup or prune at a time', async () => {
    const other = ownAlone(repository);
    for (const args of [['backup'], ['backup', 'prune', '--keep', '1']])
      expect((await firsthand(...args, '--repository', repository)).err).toMatch(/Another backup or prune uses/);
    await other.close();
  });

  test('is not restored while another process owns the folder', async () => {
    const other = ownAlone(dataDir);
    expect((await firsthand('restore', '--from', repository)).err).toMatch(/running on this DATA_DIR/);
    await other.close();
  });

  test.each([
    [['backup'], /either --to or --repository/],
    [['backup', '--to', 'a', '--repository', 'b'], /either --to or --repository/],
    [['backup', '--repository', dataDir], /neither empty nor a backup repository/],
    [['backup', 'prune', '--repository', repository, '--keep', '0'], /--keep/],
    [['backup', 'prune', '--repository', dataDir, '--keep', '1'], /not a backup repository/],
    [['restore', '--from', repository, '--name', 'none'], /holds no backup none/],
  ])('firsthand %j is refused', async (args, message) => {
    const refused = await firsthand(...args);
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toMatch(message);
  });
});
