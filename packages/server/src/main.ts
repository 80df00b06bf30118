/** The one file that names every part: settings → stores → snapshot → roles → listener. */
import { DELIVERY_HEALTH_CHANNEL } from './channels.ts';
import { startCollectorBuilder } from './collector/builder.ts';
import { createCollectorFiles } from './collector/files.ts';
import { readSettings, type Settings } from './config.ts';
import { verifyChallengeToken } from './http/challenge-token.ts';
import { healthHandler } from './http/health.ts';
import { openListeners } from './listeners.ts';
import { otherPaths } from './openapi-paths.ts';
import { watchPaused } from './operations/health.ts';
import { createGuardedClient } from './outbound/guarded-client.ts';
import { keepRotatedTokens } from './outbound/rotated-tokens.ts';
import { createTokenCache } from './outbound/tokens.ts';
import { startRecorder } from './outcomes/recorder.ts';
import { RowWriter } from './outcomes/row-writer.ts';
import { startSweeper } from './outcomes/sweeper.ts';
import { type EnsuredOwner, ensureOwner } from './roles/admin/create-organisation.ts';
import { startAdmin } from './roles/admin/start.ts';
import { openGeo } from './roles/process/geo.ts';
import { systemClock } from './runtime/clock.ts';
import { createLogger } from './runtime/logger.ts';
import { createMetrics } from './runtime/metrics.ts';
import { watchStalls } from './runtime/stall-watch.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { deriveKey } from './secrets/keys.ts';
import { openVault } from './secrets/vault.ts';
import { loadRevision } from './snapshot/revision.ts';
import { startSnapshot } from './snapshot/source.ts';
import { loadConfig } from './stores/config/load-config.ts';
import { listKeyedOrganisations } from './stores/config/organisations.ts';
import { readConfigVersion } from './stores/config/version.ts';
import { openStores } from './stores/open-stores.ts';
import { createTap } from './tap/tap.ts';
import { createSender } from './transports/sender.ts';
import { VERSION } from './version.ts';

const STOP_WITHIN_MS = 9_500;

/** `firsthand start`. Ends the process itself: 1 for a bad setting or a broken start, 0 after an orderly stop. */
export async function main(env: Record<string, string | undefined> = process.env): Promise<void> {
  const result = readSettings(env);
  if (!result.ok) {
    for (const fault of result.faults) console.error(fault);
    process.exit(1);
  }
  let running: Running | undefined;
  let failed = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      // Still starting, perhaps waiting for a server that is not there: no request was taken yet that would be owed an answer.
      if (running === undefined) process.exit(0);
      // A stop that hangs must still end: what is not settled comes again at the next start.
      setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
      void running.stop().then(() => process.exit(0));
    });
  // An uncaught exception leaves unknown state behind, so the process must not go on. It drains first, because what is
  // in flight can still be stored or settled; what cannot is in the log and comes again at the next start.
  process.on('uncaughtException', (error, origin) => {
    createLogger(result.settings.logLevel).fatal({ err: error, origin }, 'uncaught exception, draining and exiting');
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    if (running === undefined || failed) process.exit(1);
    failed = true;
    void running.stop().finally(() => process.exit(1));
  });
  try {
    running = await startServer(result.settings);
    for (const line of running.greeting) console.log(line);
  } catch (error) {
    console.error(`Firsthand could not start: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}

export interface Running {
  greeting: string[];
  stop(): Promise<void>;
}

/** What a caller may leave out; everything is there unless said otherwise. */
export interface Parts {
  /** Whether this process turns outcomes into traces and statistics: a benchmark asks what that costs. */
  record?: boolean;
}

export async function startServer(settings: Settings, parts: Parts = {}): Promise<Running> {
  const clock = systemClock;
  const logger = createLogger(settings.logLevel);
  const metrics = createMetrics();
  const stalls = watchStalls(logger);
  const has = (role: Parameters<typeof settings.roles.has>[0]) => settings.roles.has(role);
  const stores = await openStores({
    settings,
    clock,
    logger,
    onFatal(error) {
      // Rule: after a failed flush nobody may guess what is on disk. Ending is safe, going on is not.
      logger.fatal({ err: error }, 'the log failed; ending');
      process.exit(1);
    },
  });
  const { log, observe, visitors, leases, ephemeral } = stores;
  const { db } = stores.config;
  const vault = openVault(await listKeyedOrganisations(db), settings);
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
  const { paused, stop: stopWatching } = watchPaused(ephemeral, clock, DELIVERY_HEALTH_CHANNEL);
  let stopping = false;
  const health = healthHandler(
    {
      roles: settings.roles,
      logAvailable: () => log.available,
      databaseAvailable: () => snapshots.databaseAvailable,
      snapshotLoaded: () => true,
      stopping: () => stopping,
    },
    metrics.registry,
  );

  const geo = settings.geoipDb === undefined ? undefined : await openGeo(settings.geoipDb);
  if (geo && !geo.ok) throw new Error(geo.fault);
  const shared = { log, snapshots, tap, settings, clock, logger };
  const sandbox = createSandbox({ clock, logger });
  const operations = { sandbox, log, observe, visitors, snapshots, ephemeral, sender, paused };
  const admin = has('admin')
    ? await startAdmin(
        { ...vault, db, settings, clock, log: logger, version: VERSION, operations, configChanged: () => snapshots.reload() },
        otherPaths,
      )
    : undefined;
  const collector = { db, leases, ephemeral, snapshots, settings, clock, logger };
  const builder = has('admin') ? startCollectorBuilder(collector) : undefined;
  const files = has('ingest') ? createCollectorFiles(collector) : undefined;
  const challengeKey = deriveKey(vault.secretKey, 'challenge-token');
  const ingest = has('ingest')
    ? (await import('./roles/ingest/start.ts')).startIngest({
        ...shared,
        verifyChallengeToken: (token, pipelineId) => verifyChallengeToken(challengeKey, token, pipelineId, clock.now()),
      })
    : undefined;
  const processor = has('process') ? await startProcessing() : undefined;
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

  async function startProcessing() {
    const { startProcess } = await import('./roles/process/start.ts');
    const role = startProcess({ ...shared, leases, visitors, sandbox, ephemeral, geo: geo?.ok ? geo.lookup : undefined });
    const rowWriter = new RowWriter({ databaseUrl: settings.databaseUrl, dataDir: settings.dataDir }, (reason) =>
      logger.warn({ reason }, 'a database connection was lost'),
    );
    const recorder = parts.record === false ? undefined : startRecorder({ log, leases, rowWriter, logger, metrics });
    const sweeper = startSweeper({ log, observe, rowWriter, clock, logger, settings });
    return {
      async stop() {
        await role.stop();
        return {
          async finish() {
            await Promise.all([recorder?.stop(), sweeper.stop()]);
            await rowWriter.stop();
          },
        };
      },
    };
  }

  const listeners = await openListeners({
    settings,
    logger,
    health,
    collection: [ingest?.handle, files?.handle].filter((handle) => handle !== undefined),
    ingest,
    admin,
  });
  return {
    greeting: greeting(settings, listeners.addresses, owner),
    async stop() {
      stopping = true;
      ingest?.drain();
      await listeners.close();
      await ingest?.stop();
      files?.stop();
      await builder?.stop();
      const processing = await processor?.stop();
      await deliver?.stop();
      await processing?.finish();
      await admin?.stop();
      stopWatching();
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

function greeting(settings: Settings, addresses: { main: string; ingest: string | undefined }, owner: EnsuredOwner): string[] {
  const lines = ['', 'Firsthand is ready.', ''];
  if (settings.roles.has('admin')) {
    lines.push(`  Console and API    ${addresses.main}/`);
    lines.push(`  API documentation  ${addresses.main}/docs`);
  }
  if (settings.roles.has('ingest')) lines.push(`  Collection         ${addresses.ingest ?? addresses.main}/v1/t`);
  lines.push(`  Health             ${addresses.main}/readyz`);
  if (owner.created) {
    lines.push('', `  First owner        ${owner.email}`);
    if (owner.generated_password !== undefined) lines.push(`  Password           ${owner.generated_password}   (shown this once)`);
  }
  return [...lines, ''];
}
