/**
 * Keeps the snapshot fresh. Reloads at once after an urgent change (disable, delete, secret rotation) and within the reload interval after
 * any other. PostgreSQL announces changes; without announcements the version counter is polled every 750 ms. While the database is
 * unavailable the last good snapshot stays in force.
 */
import { loadVendors } from '@firsthand/catalog/index.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { turns } from '../runtime/turns.ts';
import type { ConfigRows, KnownVersions, Versioned, VersionedRows } from '../stores/config/load-config.ts';
import { type Complete, type CompleteRows, compileSnapshot } from './compile.ts';
import type { CompileSettings } from './compile-integration.ts';
import type { CompileCache, SnapshotFault } from './pieces.ts';
import type { Snapshot, SnapshotSource } from './types.ts';

/** Urgent changes must apply within a second: this leaves time to query and load. */
const LOOK_EVERY_MS = 750;
/** With notifications the poll is only a safeguard. */
const LOOK_SELDOM_MS = 5_000;
/** Least time between two loads for changes that are not urgent: many in a row are loaded together. */
const GATHER_MS = 1_000;

export interface SnapshotDeps {
  readVersion(): Promise<{ version: number; urgent_version: number }>;
  /** Returns full rows only for versions that are not in `known`. */
  loadRows(known: KnownVersions): Promise<ConfigRows>;
  /** Subscribes to notifications of changes. `live` tells whether they arrive at present. */
  listen?(onChange: () => void): { readonly live: boolean; stop(): Promise<void> };
  /** The local copy to start from while the database is unavailable. The first successful load replaces it. */
  startFrom?: VersionedRows;
  /** Called after each load, for the local copy. */
  onLoaded?(rows: LoadedRows): void;
  settings: CompileSettings & Pick<Settings, 'configReloadMs'>;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}
export type LoadedRows = CompleteRows & Pick<ConfigRows, 'urgent_version'>;
export interface LiveSnapshot extends SnapshotSource {
  /** Loads changes now. Resolves when the new snapshot is active. */
  reload(): Promise<void>;
  readonly databaseAvailable: boolean;
  stop(): Promise<void>;
}

export async function startSnapshot(deps: SnapshotDeps): Promise<LiveSnapshot> {
  const { logger, clock, settings } = deps;
  const lookEveryMs = Math.min(LOOK_EVERY_MS, settings.configReloadMs * 0.75);
  let held = new Map<string, Complete<unknown>>();
  const listeners = new Set<(snapshot: Snapshot) => void>();
  let cache: CompileCache = new Map();
  let snapshot: Snapshot | undefined;
  let faults: SnapshotFault[] = [];
  let told = new Set<string>();
  let urgentSeen = 0;
  let loadedAt = 0;
  let databaseAvailable = true;
  let running: Promise<void> | undefined;
  let wanted = false;
  let stopped = false;
  /** The snapshot is the local copy, which lacks what only the other roles need. */
  let partial = deps.startFrom !== undefined;

  async function load(): Promise<void> {
    const loaded = await deps.loadRows({ get: (id) => (partial ? undefined : held.get(id)?.row_version) });
    await turns.bulk();
    if (partial) {
      held = new Map();
      cache = new Map();
    }
    const rows = await adopt(loaded);
    partial = false;
    deps.onLoaded?.(rows);
  }

  async function adopt(loaded: VersionedRows): Promise<LoadedRows> {
    const now = new Map<string, Complete<unknown>>();
    // Passes over ten thousand integrations take milliseconds each: the loop gets turns between them.
    const complete = async <T>(versioned: Versioned<T>[]): Promise<Complete<T>[]> => {
      const rows: Complete<T>[] = [];
      for (const { id, row_version, row } of versioned) {
        const turn = turns.bulk();
        if (turn !== undefined) await turn;
        const one = row === undefined ? held.get(id) : { id, row_version, row };
        if (one === undefined) throw new Error(`configuration row ${id} was not loaded`);
        now.set(id, one);
        rows.push(one as Complete<T>);
      }
      return rows;
    };
    const rows: LoadedRows = {
      version: loaded.version,
      urgent_version: loaded.urgent_version,
      organisations: await complete(loaded.organisations),
      pipelines: await complete(loaded.pipelines),
      integrations: await complete(loaded.integrations),
      transformations: await complete(loaded.transformations),
      webhook_sources: await complete(loaded.webhook_sources),
    };
    held = now;
    if (settings.compilesVendors !== false) await loadVendors(rows.integrations.map(({ row }) => row.vendor));
    const compiled = await compileSnapshot(rows, settings, cache);
    snapshot = compiled.snapshot;
    cache = compiled.cache;
    faults = compiled.faults;
    urgentSeen = loaded.urgent_version;
    loadedAt = clock.monotonic();
    deps.metrics.snapshotConfirmed.at = performance.now();
    deps.metrics.snapshotVersion.set(snapshot.version);
    deps.metrics.snapshotFaults.set(faults.filter((fault) => fault.severity === 'error').length);
    report();
    for (const listener of listeners) listener(snapshot);
    return rows;
  }

  /** Logs each fault once, when it appears. */
  function report(): void {
    const now = new Set<string>();
    for (const fault of faults) {
      const key = `${fault.id}\n${fault.message}`;
      now.add(key);
      if (told.has(key)) continue;
      if (fault.severity === 'error')
        logger.error({ resource: fault.resource, id: fault.id, reason: fault.message }, 'configuration disabled: it does not compile');
      else logger.warn({ resource: fault.resource, id: fault.id, reason: fault.message }, 'configuration warning');
    }
    told = now;
  }

  /** One load at a time. Requests during a load share one more load after it. */
  function reload(): Promise<void> {
    wanted = true;
    running ??= (async () => {
      try {
        while (wanted) {
          wanted = false;
          await load();
          databaseAvailable = true;
        }
        watch();
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  const pollEveryMs = () => (notices?.live ? Math.max(lookEveryMs, Math.min(LOOK_SELDOM_MS, settings.configReloadMs)) : lookEveryMs);

  async function look(noticed = false): Promise<void> {
    try {
      const { version, urgent_version } = await deps.readVersion();
      if (!databaseAvailable) logger.info('database available again');
      databaseAvailable = true;
      if (version === snapshot?.version) {
        deps.metrics.snapshotConfirmed.at = performance.now();
        return;
      }
      const sinceLoad = clock.monotonic() - loadedAt;
      const tooLateNextTime = sinceLoad + pollEveryMs() >= settings.configReloadMs;
      const gathered = sinceLoad >= Math.min(GATHER_MS, settings.configReloadMs);
      if (urgent_version > urgentSeen || tooLateNextTime || (noticed && gathered)) await reload();
      else if (noticed) lookSoon(GATHER_MS - sinceLoad);
    } catch (error) {
      if (databaseAvailable) logger.warn({ err: error }, 'database unavailable, keeping the last configuration');
      databaseAvailable = false;
    }
  }

  let soon: NodeJS.Timeout | undefined;
  function lookSoon(ms = 0): void {
    if (stopped) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      void look(true);
    }, ms);
    soon.unref();
  }
  let timer: NodeJS.Timeout | undefined;
  let notices: ReturnType<NonNullable<SnapshotDeps['listen']>> | undefined;
  function tick(): void {
    timer = setTimeout(() => void look().finally(() => !stopped && tick()), pollEveryMs());
    timer.unref();
  }
  /** From the first load on: before it, the database may be unavailable or not migrated yet. */
  function watch(): void {
    if (timer !== undefined || stopped) return;
    notices = deps.listen?.(() => lookSoon());
    tick();
  }

  if (deps.startFrom === undefined) await reload();
  else {
    databaseAvailable = false;
    await adopt(deps.startFrom);
  }
  return {
    current: () => snapshot!,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload,
    get databaseAvailable() {
      return databaseAvailable;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(soon);
      await notices?.stop();
      // The caller of the failed load has the error.
      await running?.catch(() => undefined);
    },
  };
}
