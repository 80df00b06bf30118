/**
 * One temporary folder for a run of tests: whatever a test leaves behind, one that failed too, goes with it. In memory where there is
 * room: the stores flush at every change, and tests would wait for the disk.
 */
import { accessSync, chmodSync, constants, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NAME = 'firsthand-tests-';
/** Several times what the largest suite writes. */
const ROOM = 8 * 2 ** 30;

export default function setup(): () => void {
  const folder = folderInMemory() ?? mkdtempSync(join(tmpdir(), NAME));
  // PostgreSQL runs as a user of its own, and must get to its data.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  // Also where the run is broken off.
  process.once('exit', remove);
  return remove;
}

/** Undefined if there is too little memory, or if programs cannot run from there, as in some containers. */
function folderInMemory(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  // A run that was killed left its folder.
  for (const name of readdirSync(MEMORY).filter((one) => one.startsWith(NAME)))
    if (!existsSync(`/proc/${name.slice(NAME.length).split('-')[0]}`)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  const { bavail, bsize } = statfsSync(MEMORY);
  if (Math.min(bavail * bsize, process.availableMemory()) < ROOM) return undefined;
  const folder = mkdtempSync(join(MEMORY, `${NAME}${process.pid}-`));
  const program = join(folder, 'program');
  writeFileSync(program, '', { mode: 0o700 });
  try {
    accessSync(program, constants.X_OK);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}
