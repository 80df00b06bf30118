import { mkdirSync, statfsSync } from 'node:fs';
import { type Database, open, type RootDatabase } from 'lmdb';
import { LogUnavailable } from '../port.ts';

export type Store = Database<Buffer, Buffer>;

/** One LMDB environment; every named store in it shares the single writer and its commits. */
export interface Environment {
  root: RootDatabase<Buffer, Buffer>;
  store(name: string): Store;
  /**
   * Runs `write`, which only puts and removes, as one transaction; resolves when it is flushed to disk. Rejects with
   * `LogUnavailable` where the disk is full. Anything else, or no answer in time, is fatal: it is reported and never settles.
   */
  commit(write: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  path: string;
  /** The disk failed: the process must end, for nothing that is written from here on can be trusted. */
  onFatal: (error: Error) => void;
  commitTimeoutMs?: number;
}

/** Address space only: the file grows as it is written, and nothing of the map counts as private memory. */
const MAP_BYTES = 2 ** 40;
const DEFAULT_COMMIT_TIMEOUT_MS = 15_000;
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;
/** Appends are grouped before they come here, so a batch goes to the writer at once. (The last two are not in lmdb's types.) */
const TUNING = { eventTurnBatching: false, txnStartThreshold: 1, noReadAhead: true };
const NO_SPACE_CODES = new Set([28 /* ENOSPC */, 122 /* EDQUOT */, -30792 /* MDB_MAP_FULL */]);
/** With less than this left, an error of a write means that the disk is full. */
const NEARLY_FULL_BYTES = 4_194_304;

export function openEnvironment(options: EnvironmentOptions): Environment {
  mkdirSync(options.path, { recursive: true });
  const root = open<Buffer, Buffer>({
    path: options.path,
    ...BINARY,
    // With overlapping sync a put resolves once other readers can see it, before it is on disk.
    overlappingSync: false,
    ...TUNING,
    mapSize: MAP_BYTES,
    maxDbs: 24,
  });
  const timeoutMs = options.commitTimeoutMs ?? DEFAULT_COMMIT_TIMEOUT_MS;
  let fatal: Error | undefined;
  const running = new Set<Promise<unknown>>();

  function fail(error: Error): Promise<never> {
    if (!fatal) {
      fatal = error;
      options.onFatal(error);
    }
    return new Promise(() => {});
  }

  async function commit(write: () => void): Promise<void> {
    if (fatal) return fail(fatal);
    let open = true;
    const late = setTimeout(async () => {
      // The process itself may have stood still: then the answer is there, and is read before this goes on.
      await nextTurn();
      await nextTurn();
      if (open) void fail(new Error(`the disk took no commit within ${timeoutMs} ms`));
    }, timeoutMs);
    const committed = root.batch(write);
    running.add(committed);
    startNow();
    try {
      await committed;
      if (fatal) return fail(fatal);
    } catch (error) {
      const cause = await reasonOf(error);
      if (isNoSpace(cause, options.path)) throw new LogUnavailable(`the disk is full: ${cause.message}`, { cause });
      return fail(new Error(`the disk refused a commit: ${cause.message}`, { cause }));
    } finally {
      open = false;
      clearTimeout(late);
      running.delete(committed);
    }
  }

  /**
   * lmdb starts its writer at the end of a turn of the event loop, which under load is a millisecond away, and at once when it is
   * given more to do than it was given first. This is more, and nothing. It fails with the batch before it, whose failure is heard.
   */
  function startNow(): void {
    root.batch(nothing).catch(nothing);
  }

  return {
    root,
    store: (name) => root.openDB<Buffer, Buffer>({ name, ...BINARY }),
    commit,
    async close() {
      // Without this wait the environment would be unmapped under the writer.
      await Promise.allSettled(running);
      if (!fatal) await root.close();
    },
  };
}

function nothing(): void {}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** lmdb rejects with a general error that carries a promise of the real one. */
async function reasonOf(error: unknown): Promise<Error & { code?: unknown }> {
  const carried = (error as { commitError?: Promise<unknown> }).commitError;
  if (carried === undefined) return error instanceof Error ? error : new Error(String(error));
  try {
    await Promise.race([carried, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  } catch (reason) {
    return reason instanceof Error ? reason : new Error(String(reason));
  }
  return error as Error;
}

function isNoSpace(error: Error & { code?: unknown }, path: string): boolean {
  if (typeof error.code === 'number' && NO_SPACE_CODES.has(error.code)) return true;
  if (/no space left|MDB_MAP_FULL|quota/i.test(error.message)) return true;
  // LMDB reports a write that was cut short, as by a full disk, as an input/output error.
  const disk = statfsSync(path);
  return disk.bavail * disk.bsize < NEARLY_FULL_BYTES;
}
