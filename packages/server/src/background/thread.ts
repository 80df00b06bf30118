/** The thread of `background/start.ts`: a process with the roles `process` and `deliver`, but for the stores that it shares with the main thread. */
import type { MessagePort } from 'node:worker_threads';
import type { Settings } from '../config.ts';
import { startEventRoles } from '../event-roles.ts';
import { systemClock } from '../runtime/clock.ts';
import { collectAfterLoad } from '../runtime/collect-after-load.ts';
import { createLogger, type Logger } from '../runtime/logger.ts';
import { familiesOf, logUnreadable, type MetricFamily } from '../runtime/metric-families.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { type RunningRoles, runRoles } from '../runtime/role-thread.ts';
import { watchStalls } from '../runtime/stall-watch.ts';
import type { ThreadLink } from '../runtime/thread-link.ts';
import { openVault } from '../secrets/vault.ts';
import { createSharedParts } from '../shared-parts.ts';
import { startSnapshot } from '../snapshot/source.ts';
import { loadConfig } from '../stores/config/load-config.ts';
import { listKeyedOrganisations } from '../stores/config/organisations.ts';
import { readConfigVersion } from '../stores/config/version.ts';
import { registerSpaceGauge } from '../stores/disk-space.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { threadsEphemeral } from '../stores/ephemeral/threads.ts';
import { LOG_ERRORS } from '../stores/event-log/shared.ts';
import { openBackgroundStores } from '../stores/open-stores.ts';
import { outageOf } from '../stores/outages.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';

export interface BackgroundData {
  settings: Settings;
  /** Whether spans are wanted. */
  traces: boolean;
  record: boolean;
}

export function start(port: MessagePort, data: BackgroundData): void {
  const logger = createLogger(data.settings.logLevel, { outageOf, thread: 'processing' });
  const { link, running } = runRoles(port, {
    of: 'processing and delivery',
    errors: LOG_ERRORS,
    logger,
    start(link) {
      // Now: the main thread may listen to channels before the roles begin.
      const ephemeral = threadsEphemeral([link], { onError: (error) => logger.error({ err: error }, 'message between roles not handled') });
      return () => startRoles({ link, logger, ephemeral, ...data });
    },
  });
  link.answer('reload', async () => (await running())?.reload());
  link.answer('metrics', async () => (await running())?.readMetrics() ?? []);
}

interface StartDeps extends BackgroundData {
  link: ThreadLink;
  logger: Logger;
  ephemeral: Ephemeral;
}
interface Roles extends RunningRoles {
  reload(): Promise<void>;
  readMetrics(): Promise<MetricFamily[]>;
}

async function startRoles({ link, logger, ephemeral, settings, traces, record }: StartDeps): Promise<Roles> {
  const clock = systemClock;
  const metrics = createMetrics({ ofProcess: false });
  function onFatal(error: Error): void {
    logger.fatal({ err: error }, 'event log failed, exiting');
    link.tell('fatal', error.message);
  }
  const stores = await openBackgroundStores({ settings, clock, logger, link, ephemeral, onFatal });
  const { db } = stores.config;
  registerSpaceGauge(metrics.registry, stores.space);
  const { cipher } = openVault(await listKeyedOrganisations(db), settings);
  const snapshots = await startSnapshot({
    readVersion: () => readConfigVersion(db),
    loadRows: (known) => loadConfig(db, cipher, known),
    settings: { ...settings, compilesVendors: settings.roles.has('deliver') },
    clock,
    logger,
    metrics,
  });
  const parts = createSharedParts({ settings, log: stores.log, ephemeral, clock, logger });
  const { rateLimits, tap, sandbox, sender } = parts;
  const telemetry = traces ? { addSpans: (spans: readonly EncodedSpan[]) => link.tell('spans', spans) } : undefined;
  const shared = { ...stores, db, cipher, snapshots, tap, rateLimits, sandbox, sender, settings, clock, logger };
  const roles = await startEventRoles({ ...shared, telemetry, metrics, record });
  const stalls = watchStalls(logger);
  const collections = collectAfterLoad();
  return {
    reload: () => snapshots.reload(),
    readMetrics: () => familiesOf(metrics.registry, logUnreadable(logger)),
    stop: () => roles.stop(),
    async close() {
      stalls.stop();
      collections.stop();
      await parts.close();
      await snapshots.stop();
      await stores.close();
    },
  };
}
