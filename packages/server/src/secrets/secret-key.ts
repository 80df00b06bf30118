import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'secret-key';
/** A rotation writes the new key here before it rewraps, so that both keys survive a crash in between. */
const NEXT_FILE = 'secret-key.next';

export function newSecretKey(): string {
  return randomBytes(32).toString('base64url');
}

/** The keys to try, likeliest first: SECRET_KEY, otherwise the file in DATA_DIR, created (mode 0600) at the first start. */
export function secretKeyCandidates(options: { secretKey: string | undefined; dataDir: string }): string[] {
  if (options.secretKey !== undefined) return [options.secretKey];
  const keys = keyFiles(options.dataDir).map(readKey);
  return keys.length > 0 ? keys : [makeKeyFile(options.dataDir)];
}

export function hasKeyFile(dataDir: string): boolean {
  return keyFiles(dataDir).length > 0;
}
function keyFiles(dataDir: string): string[] {
  return [join(dataDir, FILE), join(dataDir, NEXT_FILE)].filter((file) => existsSync(file));
}
function readKey(file: string): string {
  const key = readFileSync(file, 'utf8').trim();
  if (key.length < 16) throw new Error(`${file} does not contain a key of at least 16 characters.`);
  return key;
}

function makeKeyFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = join(dataDir, `${FILE}.${randomBytes(6).toString('hex')}`);
  writePrivate(draft, newSecretKey());
  try {
    // A hard link is atomic and never overwrites: of two concurrent first starts, one key stays.
    linkSync(draft, join(dataDir, FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readKey(join(dataDir, FILE));
}

export function writeNextKey(dataDir: string, key: string): void {
  writePrivate(join(dataDir, NEXT_FILE), key);
}
export function adoptNextKey(dataDir: string): void {
  if (existsSync(join(dataDir, NEXT_FILE))) renameSync(join(dataDir, NEXT_FILE), join(dataDir, FILE));
}

function writePrivate(file: string, key: string): void {
  writeFileSync(file, `${key}\n`, { mode: 0o600, flush: true });
  chmodSync(file, 0o600);
}
