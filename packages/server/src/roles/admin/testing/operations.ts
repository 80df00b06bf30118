/** The real event stores for tests of the management API: LMDB, the observe store and a live snapshot. */
import { join } from 'node:path';
import pino from 'pino';
import { type CollectorBuilderDeps, startCollectorBuilder } from '../../../collector/builder.ts';
import type { Operations } from '../../../operations/operations.ts';
import { createGuardedClient } from '../../../outbound/guarded-client.ts';
import { keepRotatedTokens } from '../../../outbound/rotated-tokens.ts';
import { createTokenCache } from '../../../outbound/tokens.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { createMetrics } from '../../../runtime/metrics.ts';
import { createSandbox } from '../../../sandbox/sandbox.ts';
import type { Cipher } from '../../../secrets/cipher.ts';
import { type LiveSnapshot, startSnapshot } from '../../../snapshot/source.ts';
import { loadConfig } from '../../../stores/config/load-config.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { readConfigVersion } from '../../../stores/config/version.ts';
import { inProcessEphemeral } from '../../../stores/ephemeral/in-process.ts';
import { openLmdbLog } from '../../../stores/event-log/lmdb.ts';
import { embeddedLeases } from '../../../stores/leases/embedded.ts';
import { openObserve } from '../../../stores/observe/open.ts';
import { openLmdbVisitors } from '../../../stores/visitors/lmdb.ts';
import { createSender } from '../../../transports/sender.ts';

export type TestOperations = Operations & { snapshots: LiveSnapshot; reload(): Promise<void>; close(): Promise<void> };

export async function startOperations(options: {
  dataDir: string;
  databaseUrl: string | undefined;
  clock: Clock;
  db: Db;
  cipher: Cipher;
  /** Null: no process builds collectors. */
  build?: CollectorBuilderDeps['build'] | null;
}): Promise<TestOperations> {
  const { dataDir, databaseUrl, clock, db, cipher } = options;
  const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 86_400_000, clock });
  const observe = await openObserve({ databaseUrl, dataDir, onConnectionError: () => undefined });
  const snapshots = await startSnapshot({
    readVersion: () => readConfigVersion(db),
    loadRows: (known) => loadConfig(db, cipher, known),
    settings: { mode: 'development', allowPrivateDestinations: true, configReloadMs: 3_600_000, natsUrl: undefined },
    clock,
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
  });
  const client = createGuardedClient({ allowPrivateDestinations: true, clock });
  const ephemeral = inProcessEphemeral();
  const sandbox = createSandbox();
  const leases = embeddedLeases();
  const logger = pino({ level: 'silent' });
  const tokens = createTokenCache({ client, clock, logger, rotated: keepRotatedTokens(log) });
  const sender = createSender({ client, tokens, clock, allowPrivateDestinations: true });
  const shared = { db, leases, ephemeral, snapshots, settings: { ingestUrl: undefined }, clock, logger };
  const { build } = options;
  const builder = build === null ? undefined : startCollectorBuilder(build === undefined ? shared : { ...shared, build });
  return {
    sandbox,
    log,
    observe,
    visitors: openLmdbVisitors(log),
    snapshots,
    ephemeral,
    sender,
    client,
    paused: () => false,
    cannotRun: () => undefined,
    sourceStatus: () => undefined,
    processes: () => [
      {
        id: 'the-only-one',
        host: 'host',
        pid: process.pid,
        roles: ['admin'],
        version: '0.0.0',
        started_at: new Date(clock.now()).toISOString(),
        memory_bytes: process.memoryUsage.rss(),
        log_available: log.available,
        configuration_version: snapshots.current().version,
      },
    ],
    reload: () => snapshots.reload(),
    async close() {
      await builder?.stop();
      await sandbox.stop();
      await snapshots.stop();
      await sender.close();
      await client.close();
      await ephemeral.close();
      await log.close();
      await observe.close();
    },
  };
}
