/**
 * Keeps the snapshot fresh. Polls the version counter every 750 ms, reloads at once after an urgent change (disable, delete,
 * secret rotation) and within the reload interval after any other. While the database is unavailable the last good snapshot
 * stays in force.
 */
import { loadVendors } from '@firsthand/catalog/index.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { ConfigRows, Versioned } from '../stores/config/load-config.ts';
import { type CompileCache, type Complete, type CompleteRows, compileSnapshot, type SnapshotFault } from './compile.ts';
import type { Snapshot, SnapshotSource } from './types.ts';

/** Urgent changes must apply within a second: this leaves time to query and load. */
const LOOK_EVERY_MS = 750;

export interface SnapshotDeps {
  readVersion(): Promise<{ version: number; urgent_version: number }>;
  /** Returns full rows only for versions that are not in `known`. */
  loadRows(known: ReadonlyMap<string, number>): Promise<ConfigRows>;
  settings: Pick<Settings, 'mode' | 'allowPrivateDestinations' | 'configReloadMs' | 'natsUrl'>;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}
export interface LiveSnapshot extends SnapshotSource {
  /** Loads changes now. Resolves when the new snapshot is active. */
  reload(): Promise<void>;
  faults(): readonly SnapshotFault[];
  readonly databaseAvailable: boolean;
  stop(): Promise<void>;
}

export async function startSnapshot(deps: SnapshotDeps): Promise<LiveSnapshot> {
  const { logger, clock, settings } = deps;
  const lookEveryMs = Math.min(LOOK_EVERY_MS, settings.configReloadMs * 0.75);
  const rowsById = new Map<string, Versioned<unknown>>();
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

  async function load(): Promise<void> {
    const known = new Map([...rowsById].map(([id, row]) => [id, row.row_version]));
    const loaded = await deps.loadRows(known);
    const alive = new Set<string>();
    const complete = <T>(rows: Versioned<T>[]): Complete<T>[] =>
      rows.map((each) => {
        alive.add(each.id);
        if (each.row !== undefined) rowsById.set(each.id, each);
        const held = each.row !== undefined ? each : rowsById.get(each.id);
        if (held?.row === undefined) throw new Error(`configuration row ${each.id} was not loaded`);
        return { id: each.id, row_version: each.row_version, row: held.row as T };
      });
    const rows: CompleteRows = {
      version: loaded.version,
      organisations: complete(loaded.organisations),
      pipelines: complete(loaded.pipelines),
      integrations: complete(loaded.integrations),
      transformations: complete(loaded.transformations),
      webhook_sources: complete(loaded.webhook_sources),
    };
    for (const id of rowsById.keys()) if (!alive.has(id)) rowsById.delete(id);
    await loadVendors(rows.integrations.map(({ row }) => row.vendor));
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
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  async function look(): Promise<void> {
    try {
      const { version, urgent_version } = await deps.readVersion();
      if (!databaseAvailable) logger.info('database available again');
      databaseAvailable = true;
      if (version === snapshot?.version) {
        deps.metrics.snapshotConfirmed.at = performance.now();
        return;
      }
      const tooLateNextTime = clock.monotonic() - loadedAt + lookEveryMs >= settings.configReloadMs;
      if (urgent_version > urgentSeen || tooLateNextTime) await reload();
    } catch (error) {
      if (databaseAvailable) logger.warn({ err: error }, 'database unavailable, keeping the last configuration');
      databaseAvailable = false;
    }
  }

  await reload();
  let timer: NodeJS.Timeout;
  const tick = () => {
    timer = setTimeout(() => void look().finally(() => !stopped && tick()), lookEveryMs);
    timer.unref();
  };
  tick();
  return {
    current: () => snapshot!,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload,
    faults: () => faults,
    get databaseAvailable() {
      return databaseAvailable;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
