/** The one file that names every part: settings → stores → snapshot → roles → listener. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startCollectorBuilder } from './collector/builder.ts';
import { createCollectorFiles } from './collector/files.ts';
import { readSettings, type Settings } from './config.ts';
import { greeting } from './greeting.ts';
import { verifyChallengeToken } from './http/challenge-token.ts';
import { healthHandler } from './http/health.ts';
import { type Running, runUntilStopped } from './lifecycle.ts';
import { openListeners } from './listeners.ts';
import { otherPaths } from './openapi-paths.ts';
import { watchPaused, watchSources } from './operations/health.ts';
import { createGuardedClient } from './outbound/guarded-client.ts';
import { keepRotatedTokens } from './outbound/rotated-tokens.ts';
import { createTokenCache } from './outbound/tokens.ts';
import { startOutcomes } from './outcomes/start.ts';
import { startAlerts } from './roles/admin/alerts/evaluator.ts';
import { ensureOwner } from './roles/admin/create-organisation.ts';
import { startAdmin } from './roles/admin/start.ts';
import { systemClock } from './runtime/clock.ts';
import { createLogger } from './runtime/logger.ts';
import { countAccepted, createMetrics } from './runtime/metrics.ts';
import { watchStalls } from './runtime/stall-watch.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { deriveKey } from './secrets/keys.ts';
import { openVault } from './secrets/vault.ts';
import { loadRevision } from './snapshot/revision.ts';
import { startSnapshot } from './snapshot/source.ts';
import { loadConfig } from './stores/config/load-config.ts';
import { listKeyedOrganisations } from './stores/config/organisations.ts';
import { sealStoredParameters } from './stores/config/pipeline-parameters.ts';
import { readConfigVersion } from './stores/config/version.ts';
import { registerSpaceGauge } from './stores/disk-space.ts';
import { openStores } from './stores/open-stores.ts';
import { createTap } from './tap/tap.ts';
import { createSender, driverOptions } from './transports/sender.ts';
import { VERSION } from './version.ts';

/** `firsthand start`. Ends the process itself; see lifecycle.ts for the exit codes. */
export async function main(env: Record<string, string | undefined> = process.env): Promise<void> {
  const result = readSettings(env);
  if (!result.ok) {
    for (const fault of result.faults) console.error(fault);
    process.exit(1);
  }
  const { settings } = result;
  await runUntilStopped(createLogger(settings.logLevel), () => startServer(settings));
}

export async function startServer(settings: Settings, { record = true }: { record?: boolean } = {}): Promise<Running> {
  const clock = systemClock;
  const logger = createLogger(settings.logLevel);
  const metrics = createMetrics();
  const has = (role: Parameters<typeof settings.roles.has>[0]) => settings.roles.has(role);
  const stores = await openStores({
    settings,
    clock,
    logger,
    onFatal(error) {
      // After a failed flush the state on disk is unknown. Exiting is safe; continuing is not.
      logger.fatal({ err: error }, 'event log failed, exiting');
      process.exit(1);
    },
  });
  const { log, observe, visitors, leases, ephemeral } = stores;
  const { db } = stores.config;
  const vault = openVault(await listKeyedOrganisations(db), settings);
  await sealStoredParameters(db, vault.cipher);
  const owner = await ensureOwner({ db, cipher: vault.cipher, clock }, { email: settings.ownerEmail, password: settings.ownerPassword });
  const snapshots = await startSnapshot({
    readVersion: () => readConfigVersion(db),
    loadRows: (known) => loadConfig(db, vault.cipher, known),
    settings,
    clock,
    logger,
    metrics,
  });
  const tap = createTap(ephemeral, clock);
  const client = createGuardedClient({ allowPrivateDestinations: settings.allowPrivateDestinations, clock });
  const tokens = createTokenCache({ client, clock, logger, rotated: keepRotatedTokens(log, clock) });
  const sender = createSender({ client, tokens, clock, allowPrivateDestinations: settings.allowPrivateDestinations });
  const { paused, stop: stopWatching } = watchPaused(ephemeral, clock);
  const sources = watchSources(ephemeral, clock);
  let draining = false;
  const vitals = {
    roles: settings.roles,
    logAvailable: () => log.available,
    databaseAvailable: () => snapshots.databaseAvailable,
    snapshotLoaded: () => true,
    draining: () => draining,
  };
  const { registry } = metrics;
  registerSpaceGauge(registry, stores.space);

  const geo = settings.geoipDb === undefined ? undefined : await (await import('./roles/process/geo.ts')).openGeo(settings.geoipDb);
  if (geo && !geo.ok) throw new Error(geo.fault);
  const shared = { log, snapshots, tap, settings, clock, logger };
  const sandbox = createSandbox({ clock, logger });
  const operations = { sandbox, log, observe, visitors, snapshots, ephemeral, sender, client, paused, sourceStatus: sources.statusOf };
  const admin = has('admin')
    ? await startAdmin(
        { ...vault, db, settings, clock, log: logger, version: VERSION, operations, configChanged: () => snapshots.reload() },
        otherPaths,
      )
    : undefined;
  const collector = { db, leases, ephemeral, snapshots, settings, clock, logger };
  const alerts = has('admin') ? startAlerts({ db, leases, observe, log, snapshots, client, settings, clock, logger }) : undefined;
  const builder = has('admin') ? startCollectorBuilder(collector) : undefined;
  const files = has('ingest') ? createCollectorFiles(collector) : undefined;
  const challengeKey = deriveKey(vault.secretKey, 'challenge-token');
  const ingest = has('ingest')
    ? (await import('./roles/ingest/start.ts')).startIngest({
        ...shared,
        onCounts: (counts) => countAccepted(metrics, counts),
        acceptDuration: metrics.acceptDuration,
        consumers: { leases, ephemeral, registry, driver: driverOptions({ client, tokens, clock, ...settings }) },
        verifyChallengeToken: (token, pipelineId) => verifyChallengeToken(challengeKey, token, pipelineId, clock.now()),
      })
    : undefined;
  const processor = has('process')
    ? (await import('./roles/process/start.ts')).startProcess({
        ...shared,
        leases,
        visitors,
        sandbox,
        ephemeral,
        geo: geo?.ok ? geo.lookup : undefined,
        registry,
      })
    : undefined;
  const telemetry =
    settings.otelEndpoint === undefined
      ? undefined
      : (await import('./telemetry/start.ts')).startTelemetry({ settings, endpoint: settings.otelEndpoint, registry, clock, logger });
  const outcomes = has('process')
    ? startOutcomes({ log, snapshots, leases, clock, logger, metrics, telemetry, settings, record })
    : undefined;
  const deliver = has('deliver')
    ? (await import('./roles/deliver/start.ts')).startDeliver({
        ...shared,
        random: Math.random,
        ephemeral,
        leases,
        sender,
        metrics,
        compileRevision: (integration, number) => loadRevision({ db, cipher: vault.cipher, settings }, integration, number),
      })
    : undefined;

  const listeners = await openListeners({
    settings,
    logger,
    health: healthHandler(vitals, { registry, served: settings.metricsPort === undefined, token: settings.metricsToken }),
    metrics: healthHandler(vitals, { registry, served: true, token: undefined }),
    collection: [ingest?.handle, files?.handle].filter((handle) => handle !== undefined),
    ingest,
    admin,
  });
  // From here on: until the listener is open, a stall delays nobody.
  const stalls = watchStalls(logger);
  return {
    drainDelayMs: settings.drainDelayMs,
    greeting: greeting(settings, listeners.addresses, owner),
    async stop() {
      draining = true;
      ingest?.drain();
      await sleep(settings.drainDelayMs);
      await listeners.close();
      await ingest?.stop();
      files?.stop();
      await builder?.stop();
      await alerts?.stop();
      await processor?.stop();
      await deliver?.stop();
      await outcomes?.stop();
      await telemetry?.stop();
      await admin?.stop();
      stopWatching();
      sources.stop();
      stalls.stop();
      tap.stop();
      await sandbox.stop();
      await sender.close();
      await client.close();
      await snapshots.stop();
      await stores.close();
    },
  };
}
