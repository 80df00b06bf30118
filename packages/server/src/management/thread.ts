/** The thread of `management/start.ts`: a process with the role `admin`, but for the stores that it shares with the main thread. */
import { createServer } from 'node:http';
import type { MessagePort } from 'node:worker_threads';
import type { Settings } from '../config.ts';
import { JoinedRequest } from '../http/joined-request.ts';
import { servedServerOptions } from '../http/server-options.ts';
import { startManagementRole } from '../management-role.ts';
import { describeProcess, watchProcesses } from '../operations/processes.ts';
import { systemClock } from '../runtime/clock.ts';
import { collectAfterLoad } from '../runtime/collect-after-load.ts';
import { createLogger, type Logger } from '../runtime/logger.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { type RunningRoles, runRoles } from '../runtime/role-thread.ts';
import { watchStalls } from '../runtime/stall-watch.ts';
import type { ThreadLink } from '../runtime/thread-link.ts';
import { ThreadSockets } from '../runtime/thread-socket.ts';
import { openVault } from '../secrets/vault.ts';
import { createSharedParts } from '../shared-parts.ts';
import { startSnapshot } from '../snapshot/source.ts';
import { loadConfig } from '../stores/config/load-config.ts';
import { listKeyedOrganisations } from '../stores/config/organisations.ts';
import { readConfigVersion } from '../stores/config/version.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { threadsEphemeral } from '../stores/ephemeral/threads.ts';
import { LOG_ERRORS } from '../stores/event-log/shared.ts';
import { openManagementStores } from '../stores/open-stores.ts';
import { outageOf } from '../stores/outages.ts';

export interface ManagementData {
  settings: Settings;
}

export function start(port: MessagePort, { settings }: ManagementData): void {
  const logger = createLogger(settings.logLevel, { outageOf, thread: 'management' });
  runRoles(port, {
    of: 'the management API',
    errors: LOG_ERRORS,
    logger,
    start(link) {
      // Now: the main thread may listen to channels before the role begins.
      const ephemeral = threadsEphemeral([link], { onError: (error) => logger.warn({ err: error }, 'live frame or hint lost') });
      return () => startRole({ link, logger, ephemeral, settings });
    },
  });
}

interface StartDeps extends ManagementData {
  link: ThreadLink;
  logger: Logger;
  ephemeral: Ephemeral;
}

async function startRole({ link, logger, ephemeral, settings }: StartDeps): Promise<RunningRoles> {
  const clock = systemClock;
  const stores = await openManagementStores({ settings, logger, link, ephemeral });
  const { db } = stores.config;
  const vault = openVault(await listKeyedOrganisations(db), settings);
  const snapshots = await startSnapshot({
    readVersion: () => readConfigVersion(db),
    loadRows: (known) => loadConfig(db, vault.cipher, known),
    settings: { ...settings, compilesVendors: true },
    clock,
    logger,
    metrics: createMetrics({ ofProcess: false }),
  });
  const parts = createSharedParts({ settings, log: stores.log, ephemeral, clock, logger });
  const processes = watchProcesses({
    ephemeral,
    clock,
    describe: describeProcess({ settings, log: stores.log, snapshots, clock }),
  });
  async function configChanged(): Promise<void> {
    await Promise.all([snapshots.reload(), link.call('reload')]);
  }
  const admin = await startManagementRole({ ...stores, db, parts, vault, snapshots, processes, settings, clock, logger, configChanged });
  // It never listens: its connections come from the main thread, which also has the limits against slow clients.
  const server = createServer({ ...servedServerOptions, IncomingMessage: JoinedRequest }, (req, res) => admin.handle(req, res));
  admin.attach(server);
  new ThreadSockets(link, (socket) => server.emit('connection', socket));
  link.on('detach', () => admin.detach());
  const stalls = watchStalls(logger);
  const collections = collectAfterLoad();
  return {
    stop: () => admin.stop(),
    async close() {
      stalls.stop();
      collections.stop();
      processes.stop();
      await parts.close();
      await snapshots.stop();
      await stores.close();
    },
  };
}
