/** The one file that names every part: settings → stores → snapshot → roles → listener. */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasBackground, startBackground } from './background/start.ts';
import { createCollectorFiles } from './collector/files.ts';
import { readSettings, type Settings } from './config.ts';
import { type PreparedDatabase, prepareDatabase, waitForDatabase } from './database-start.ts';
import { startEventRoles } from './event-roles.ts';
import { greeting } from './greeting.ts';
import { verifyChallengeToken } from './http/challenge-token.ts';
import { healthHandler } from './http/health.ts';
import { type Running, runUntilStopped } from './lifecycle.ts';
import { answerMeanwhile, createAdminSlot, openListeners, refuseCollection } from './listeners.ts';
import { keepLocalCopy, readLocalCopy } from './local-configuration.ts';
import { hasManagement, startManagement } from './management/start.ts';
import { describeProcess, watchProcesses } from './operations/processes.ts';
import { systemClock } from './runtime/clock.ts';
import { collectAfterLoad } from './runtime/collect-after-load.ts';
import { createLogger } from './runtime/logger.ts';
import { addUp, familiesOf, logUnreadable, type MetricFamily } from './runtime/metric-families.ts';
import { countAccepted, createMetrics } from './runtime/metrics.ts';
import { watchStalls } from './runtime/stall-watch.ts';
import { createCipher } from './secrets/cipher.ts';
import { deriveKey } from './secrets/keys.ts';
import { createSecretDigest } from './secrets/secret-digest.ts';
import { createSharedParts } from './shared-parts.ts';
import { type LiveSnapshot, startSnapshot } from './snapshot/source.ts';
import { listenForChanges } from './stores/config/change-notices.ts';
import { loadConfig } from './stores/config/load-config.ts';
import type { Db } from './stores/config/schema.ts';
import { notify, readConfigVersion } from './stores/config/version.ts';
import { registerSpaceGauge } from './stores/disk-space.ts';
import { openStores, type Stores } from './stores/open-stores.ts';
import { outageOf } from './stores/outages.ts';
import type { Telemetry } from './telemetry/start.ts';
import { driverOptions } from './transports/sender.ts';

/** `firsthand start`. Ends the process itself; see lifecycle.ts for the exit codes. */
export async function main(env: Record<string, string | undefined> = process.env): Promise<void> {
  const result = readSettings(env);
  if (!result.ok) {
    for (const fault of result.faults) console.error(fault);
    process.exit(1);
  }
  const { settings } = result;
  await runUntilStopped(createLogger(settings.logLevel, { outageOf }), () => startServer(settings));
}

export async function startServer(settings: Settings, { record = true }: { record?: boolean } = {}): Promise<Running> {
  const clock = systemClock;
  const logger = createLogger(settings.logLevel, { outageOf });
  const metrics = createMetrics();
  const has = (role: Parameters<typeof settings.roles.has>[0]) => settings.roles.has(role);
  const endingWith = (of: string) => ({
    // As any uncaught exception: see lifecycle.ts.
    onFailed: (error: Error) =>
      process.nextTick(() => {
        throw error;
      }),
    onFatal(error: Error) {
      logger.fatal({ err: error }, `the thread of ${of} failed, exiting`);
      process.exit(1);
    },
  });
  const background = hasBackground(settings)
    ? startBackground({
        settings,
        record,
        onSpans: settings.otelEndpoint === undefined ? undefined : (spans) => telemetry?.addSpans(spans),
        ...endingWith('processing and delivery'),
      })
    : undefined;
  const management = hasManagement(settings)
    ? startManagement({ settings, logger, reload: () => configChanged(), ...endingWith('the management API') })
    : undefined;
  const { registry } = metrics;
  let draining = false;
  const compiles = (has('deliver') && background === undefined) || (has('admin') && management === undefined);
  let telemetry: Telemetry | undefined;
  let snapshots: LiveSnapshot | undefined;
  let opened: Stores | undefined;
  const vitals = {
    roles: settings.roles,
    logAvailable: () => opened?.log.available ?? false,
    databaseAvailable: () => snapshots?.databaseAvailable ?? false,
    snapshotLoaded: () => snapshots !== undefined,
    draining: () => draining,
  };
  async function readMetrics(): Promise<MetricFamily[]> {
    const [ours, others] = await Promise.all([familiesOf(registry, logUnreadable(logger)), background?.readMetrics() ?? []]);
    return addUp(ours, others);
  }
  const health = {
    health: healthHandler(vitals, { read: readMetrics, served: settings.metricsPort === undefined, token: settings.metricsToken }),
    metrics: healthHandler(vitals, { read: readMetrics, served: true, token: undefined }),
  };
  const openWaiting = () =>
    openListeners({
      settings,
      logger,
      ...health,
      collection: has('ingest') ? [health.health, refuseCollection] : [],
      admin: createAdminSlot(),
    });

  const opening = openStores({
    settings,
    clock,
    logger,
    onFatal(error) {
      // After a failed flush the state on disk is unknown. Exiting is safe; continuing is not.
      logger.fatal({ err: error }, 'event log failed, exiting');
      process.exit(1);
    },
    background: background?.link,
    management: management?.link,
  });
  const stores = await answerMeanwhile(opening, openWaiting);
  opened = stores;
  const { log, visitors, leases, ephemeral } = stores;
  const { db } = stores.config;
  registerSpaceGauge(registry, stores.space);

  const databaseDeps = { stores, settings, clock, logger };
  let database = await prepareDatabase(databaseDeps);
  const saved = database === undefined && has('ingest') ? await readLocalCopy(settings, logger) : undefined;
  if (database === undefined && saved === undefined) database = await answerMeanwhile(waitForDatabase(databaseDeps), openWaiting);
  const secretKey = database?.vault.secretKey ?? settings.secretKey;
  // SECRET_KEY is required with DATABASE_URL, and without DATABASE_URL the database is always there.
  if (secretKey === undefined) throw new Error('SECRET_KEY: is required when DATABASE_URL is set');
  const cipher = database?.vault.cipher ?? createCipher(secretKey);
  const live = await startSnapshot({
    readVersion: () => readConfigVersion(db),
    loadRows: (known) => loadConfig(db, cipher, known),
    ...(settings.databaseUrl === undefined ? {} : { listen: configNotices(db, settings.databaseUrl) }),
    ...(saved === undefined ? {} : { startFrom: saved.rows }),
    ...(settings.databaseUrl !== undefined && has('ingest') ? { onLoaded: keepLocalCopy(settings, secretKey, clock, logger) } : {}),
    settings: { ...settings, compilesVendors: compiles },
    clock,
    logger,
    metrics,
  });
  snapshots = live;
  const parts = createSharedParts({ settings, log, ephemeral, clock, logger });
  const { rateLimits, tap, sandbox, client, tokens, sender } = parts;
  // A thread of the management API speaks for this process.
  const describe = describeProcess({ settings, log, snapshots: live, clock });
  const processes = management ? undefined : watchProcesses({ ephemeral, clock, describe });

  const shared = { log, snapshots: live, tap, rateLimits, settings, clock, logger };
  const collector = { db, leases, ephemeral, snapshots: live, settings, clock, logger };
  const files = has('ingest') ? createCollectorFiles(collector) : undefined;
  const challengeKey = deriveKey(secretKey, 'challenge-token');
  const ingest = has('ingest')
    ? (await import('./roles/ingest/start.ts')).startIngest({
        ...shared,
        onCounts: (counts) => countAccepted(metrics, counts),
        acceptDuration: metrics.acceptDuration,
        consumers: { leases, ephemeral, registry, driver: driverOptions({ client, tokens, clock, ...settings }) },
        digestSecret: createSecretDigest(secretKey),
        verifyChallengeToken: (token, pipelineId) => verifyChallengeToken(challengeKey, token, pipelineId, clock.now()),
      })
    : undefined;
  telemetry =
    settings.otelEndpoint === undefined
      ? undefined
      : (await import('./telemetry/start.ts')).startTelemetry({ settings, endpoint: settings.otelEndpoint, readMetrics, clock, logger });
  const adminSlot = has('admin') ? createAdminSlot() : undefined;

  /** Resolves when every role uses the present configuration. */
  async function configChanged(): Promise<void> {
    await Promise.all([live.reload(), background?.reload()]);
  }

  /** The roles that need the database, or the whole configuration. A thread of the management API begins meanwhile. */
  async function startOthers({ vault }: PreparedDatabase): Promise<() => Promise<void>> {
    await background?.begin();
    const admin =
      processes && adminSlot
        ? await (await import('./management-role.ts')).startManagementRole({
            ...stores,
            ...shared,
            db,
            parts,
            vault,
            processes,
            configChanged,
          })
        : management;
    if (admin) adminSlot?.fill(admin);
    const roles =
      background === undefined
        ? await startEventRoles({
            ...shared,
            db,
            cipher: vault.cipher,
            visitors,
            leases,
            ephemeral,
            sandbox,
            sender,
            telemetry,
            metrics,
            record,
          })
        : background;
    return async () => {
      await admin?.stop();
      await roles.stop();
      await telemetry?.stop();
    };
  }

  const managing = management?.begin() ?? Promise.resolve();
  // Whoever waits for it gets the error, also when it comes before anybody waits.
  managing.catch(() => {});
  const stopOthers = database && (await startOthers(database));
  const listeners = await openListeners({
    settings,
    logger,
    ...health,
    collection: [ingest?.handle, files?.handle].filter((handle) => handle !== undefined),
    ingest,
    admin: adminSlot,
  });
  const stopping = new AbortController();
  const othersLater = stopOthers === undefined ? startLater() : undefined;
  /** PostgreSQL was unavailable: events are accepted meanwhile. An error here ends the process like any uncaught one. */
  async function startLater(): Promise<(() => Promise<void>) | undefined> {
    const prepared = await waitForDatabase(databaseDeps, { signal: stopping.signal, load: () => live.reload() });
    if (prepared === undefined) return undefined;
    const stop = await startOthers(prepared);
    for (const line of greeting(settings, listeners.addresses, prepared.owner)) console.log(line);
    return stop;
  }
  // Watch from here on: before the listener is open, a stall delays no request.
  const stalls = watchStalls(logger);
  const collections = collectAfterLoad();
  return {
    // The management API may take a moment longer than the listeners. Its requests wait for it.
    begun: managing,
    drainDelayMs: settings.drainDelayMs,
    greeting: database ? greeting(settings, listeners.addresses, database.owner) : [WAITING_FOR_DATABASE],
    logAvailable: () => log.available,
    async stop() {
      draining = true;
      stopping.abort();
      listeners.drain();
      ingest?.drain();
      // Without the log `/readyz` is 503 already: nobody sends requests that a delay would serve.
      if (log.available) await sleep(settings.drainDelayMs);
      await listeners.close();
      await ingest?.stop();
      files?.stop();
      await (stopOthers ?? (await othersLater))?.();
      processes?.stop();
      stalls.stop();
      collections.stop();
      await parts.close();
      await live.stop();
      await management?.close();
      await background?.close();
      await stores.close();
    },
  };
}

const WAITING_FOR_DATABASE = 'Firsthand accepts events with the saved configuration and waits for PostgreSQL.';

function configNotices(db: Db, databaseUrl: string) {
  return (onChange: () => void) => listenForChanges({ databaseUrl, notify: (channel, text) => notify(db, channel, text), onChange });
}
