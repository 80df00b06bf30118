/** The admin role with all that belongs to it: the management API, alerts, and the builder of collectors. */
import { startCollectorBuilder } from './collector/builder.ts';
import type { Settings } from './config.ts';
import { otherPaths } from './openapi-paths.ts';
import { watchDeliverers, watchSources } from './operations/health.ts';
import type { Processes } from './operations/processes.ts';
import { startAlerts } from './roles/admin/alerts/evaluator.ts';
import { type AdminRole, startAdmin } from './roles/admin/start.ts';
import type { Clock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';
import type { Vault } from './secrets/vault.ts';
import type { SharedParts } from './shared-parts.ts';
import type { LiveSnapshot } from './snapshot/source.ts';
import type { Db } from './stores/config/schema.ts';
import type { Ephemeral } from './stores/ephemeral/port.ts';
import type { EventLog } from './stores/event-log/port.ts';
import type { Leases } from './stores/leases/port.ts';
import type { ObserveStore } from './stores/observe/schema.ts';
import type { VisitorStore } from './stores/visitors/port.ts';
import { VERSION } from './version.ts';

export interface ManagementRoleDeps {
  db: Db;
  observe: ObserveStore;
  log: EventLog;
  visitors: VisitorStore;
  leases: Leases;
  ephemeral: Ephemeral;
  parts: Pick<SharedParts, 'rateLimits' | 'sandbox' | 'client' | 'sender'>;
  vault: Vault;
  snapshots: LiveSnapshot;
  processes: Processes;
  settings: Settings;
  clock: Clock;
  logger: Logger;
  /** Resolves when every role of this process uses the present configuration. */
  configChanged(): Promise<void>;
}
export async function startManagementRole(deps: ManagementRoleDeps): Promise<AdminRole> {
  const { db, observe, log, visitors, leases, ephemeral, parts, vault, snapshots, processes, settings, clock, logger, configChanged } =
    deps;
  const { rateLimits, sandbox, client, sender } = parts;
  const { paused, cannotRun, stop: stopWatching } = watchDeliverers(ephemeral, clock);
  const sources = watchSources(ephemeral, clock);
  const operations = {
    sandbox,
    log,
    observe,
    visitors,
    snapshots,
    ephemeral,
    sender,
    client,
    paused,
    cannotRun,
    sourceStatus: sources.statusOf,
    processes: processes.list,
  };
  const admin = await startAdmin(
    { ...vault, db, settings, clock, logger, version: VERSION, rateLimits, operations, configChanged },
    otherPaths,
  );
  const alerts = startAlerts({ db, cipher: vault.cipher, leases, observe, log, snapshots, client, settings, clock, logger });
  const builder = startCollectorBuilder({ db, leases, ephemeral, snapshots, settings, clock, logger });
  return {
    ...admin,
    async stop() {
      await builder.stop();
      await alerts.stop();
      await admin.stop();
      stopWatching();
      sources.stop();
    },
  };
}
