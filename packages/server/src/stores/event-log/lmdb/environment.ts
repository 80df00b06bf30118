import { mkdirSync, statfsSync } from 'node:fs';
import { type Database, open, type RootDatabase } from 'lmdb';
import type { DiskSpace } from '../../disk-space.ts';
import { LogUnavailable } from '../port.ts';

export type Store = Database<Buffer, Buffer>;

/** One LMDB environment. All named stores in it share the single writer and its commits. */
export interface Environment {
  root: RootDatabase<Buffer, Buffer>;
  path: string;
  store(name: string): Store;
  /**
   * Runs `write`, which may only put and remove, as one transaction; resolves when it is flushed to disk. One at a time. Rejects with
   * `LogUnavailable` when the disk is full. Any other error or a timeout is fatal: it is reported, and the promise never settles.
   */
  commit(write: () => void): Promise<void>;
  /** Reads page counts, no data. */
  space(): DiskSpace;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  path: string;
  /** The disk failed. The process must exit, because no later write can be trusted. */
  onFatal: (error: Error) => void;
  commitTimeoutMs?: number;
}

/** Address space only: the file grows as it is written, and the map does not count as private memory. */
const MAP_BYTES = 2 ** 40;
const DEFAULT_COMMIT_TIMEOUT_MS = 15_000;
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;
/** Appends are already grouped, so each batch goes to the writer at once. (The last two options are missing in lmdb's types.) */
const TUNING = { eventTurnBatching: false, txnStartThreshold: 1, noReadAhead: true };
const NO_SPACE_CODES = new Set([28 /* ENOSPC */, 122 /* EDQUOT */, -30792 /* MDB_MAP_FULL */]);
/** If less than this is free, a write error means that the disk is full. */
const NEARLY_FULL_BYTES = 4_194_304;

export function openEnvironment(options: EnvironmentOptions): Environment {
  mkdirSync(options.path, { recursive: true });
  const root = open<Buffer, Buffer>({
    path: options.path,
    ...BINARY,
    // With overlapping sync a put resolves once readers can see it, before it is on disk.
    overlappingSync: false,
    ...TUNING,
    mapSize: MAP_BYTES,
    maxDbs: 24,
  });
  const timeoutMs = options.commitTimeoutMs ?? DEFAULT_COMMIT_TIMEOUT_MS;
  let fatal: Error | undefined;
  let closed = false;
  let running: Promise<unknown> | undefined;

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
      // This process itself may have been paused. In that case the result is already there, so let the event loop read it first.
      await nextTurn();
      await nextTurn();
      if (open) void fail(new Error(`the disk did not finish a commit within ${timeoutMs} ms`));
    }, timeoutMs);
    const committed = root.batch(write);
    running = committed;
    startNow();
    try {
      await committed;
      if (fatal) return fail(fatal);
    } catch (error) {
      const cause = await reasonOf(error);
      if (isNoSpace(cause, options.path)) throw new LogUnavailable(`the disk is full: ${cause.message}`, { cause });
      return fail(new Error(`the disk failed a commit: ${cause.message}`, { cause }));
    } finally {
      open = false;
      clearTimeout(late);
    }
  }

  /**
   * lmdb starts its writer at the end of an event loop turn, which can take a millisecond under load. It starts at once when it gets more
   * work after the first batch. This adds an empty write to trigger that. If it fails, the batch before it fails too, and that failure is
   * handled.
   */
  function startNow(): void {
    root.batch(nothing).catch(nothing);
  }

  const stores: Store[] = [];
  return {
    root,
    path: options.path,
    store(name) {
      const store = root.openDB<Buffer, Buffer>({ name, ...BINARY });
      const prefetch = store.prefetch.bind(store);
      // Other reads notice that the environment is closed. This one would use its memory.
      store.prefetch = (keys) => (closed ? Promise.reject(new LogUnavailable('the log is closed')) : prefetch(keys));
      stores.push(store);
      return store;
    },
    commit,
    space() {
      const { pageSize, lastPageNumber, root: names, free } = root.getStats() as RootStats;
      // Two pages at the beginning are LMDB's own.
      let pages = 2 + pagesOf(names) + pagesOf(free);
      for (const store of stores) pages += pagesOf(store.getStats() as TreeStats);
      const used = pages * pageSize;
      return { used, reusable: Math.max(0, (lastPageNumber + 1) * pageSize - used) };
    },
    async close() {
      closed = true;
      // Without this wait the environment would be unmapped while the writer uses it.
      await Promise.allSettled([running]);
      if (!fatal) await root.close();
    },
  };
}

function nothing(): void {}

/** lmdb has no types for its statistics. */
interface TreeStats {
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}
interface RootStats {
  pageSize: number;
  lastPageNumber: number;
  root: TreeStats;
  free: TreeStats;
}
const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats) =>
  treeBranchPageCount + treeLeafPageCount + overflowPages;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** lmdb rejects with a general error that carries a promise of the actual error. */
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
  // LMDB reports a short write, for example on a full disk, as an input/output error.
  const disk = statfsSync(path);
  return disk.bavail * disk.bsize < NEARLY_FULL_BYTES;
}
