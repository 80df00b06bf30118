/**
 * When a writer tries again that met a full disk: as soon as space was freed, else after growing waits of up to a minute, because space under a
 * quota does not show. Each try costs a write that fails, and a line of LMDB on standard error.
 */
import { statfsSync } from 'node:fs';

const FIRST_MS = 200;
const LAST_MS = 60_000;
const SQLITE_FULL = 13;

export class SpaceWait {
  readonly #now: () => number;
  readonly #freeBytes: () => number;
  #free = 0;
  #until = Number.NEGATIVE_INFINITY;
  #waitMs = FIRST_MS;

  constructor(path: string, now = () => performance.now(), freeBytes = () => freeOn(path)) {
    this.#now = now;
    this.#freeBytes = freeBytes;
  }
  failed(): void {
    this.#free = this.#freeBytes();
    this.#until = this.#now() + this.#waitMs;
    this.#waitMs = Math.min(this.#waitMs * 2, LAST_MS);
  }
  succeeded(): void {
    this.#waitMs = FIRST_MS;
    this.#until = Number.NEGATIVE_INFINITY;
  }
  /** Cheap: may be asked often. */
  isOver(): boolean {
    return this.#now() >= this.#until || this.#freeBytes() > this.#free;
  }
}
function freeOn(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Of SQLite. The log has an error of its own. */
export function isFullDisk(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: number };
  return code === 'ERR_SQLITE_ERROR' && ((errcode ?? 0) & 0xff) === SQLITE_FULL;
}
