/** Chooses the engine behind each port; no other module does. The PostgreSQL and NATS clients are loaded only when used. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Settings } from '../config.ts';
import { ingestPartitions } from '../partition.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ThreadLink } from '../runtime/thread-link.ts';
import { migrate as migrateConfig } from './config/migrate.ts';
import { type ConfigStore, type ConfigStoreOptions, openConfigStore, openUnmigrated } from './config/open.ts';
import { noteStores, removeUnfinished, requireDataDir, requireStores, requireWholeLog, StoreFault } from './data-dir.ts';
import { openSqliteSpace, type SpaceReaders } from './disk-space.ts';
import type { Ephemeral } from './ephemeral/port.ts';
import type { NatsSecurity } from './event-log/jetstream/connection.ts';
import { type EventLog, LogUnavailable } from './event-log/port.ts';
import { removeAbandonedCopies } from './interrupted-restore.ts';
import type { Leases } from './leases/port.ts';
import { kyselyWriter } from './observe/kysely-writer.ts';
import { closeObserve, connectObserve, openObserve } from './observe/open.ts';
import { type ObserveStore, prepareObserve } from './observe/schema.ts';
import { OBSERVE_FILE } from './observe/tables.ts';
import { tightenDataDir } from './private-files.ts';
import { ownAlone } from './sole-owner.ts';
import type { VisitorStore } from './visitors/port.ts';

export interface Stores {
  config: ConfigStore;
  observe: ObserveStore;
  log: EventLog;
  visitors: VisitorStore;
  leases: Leases;
  ephemeral: Ephemeral;
  /**
   * Migrates the database. Call once before the first query. Fails with a connection error while PostgreSQL is unavailable; may be
   * called again then.
   */
  migrate(): Promise<void>;
  /** Of the embedded stores. */
  space: SpaceReaders;
  close(): Promise<void>;
}
export interface StoresDeps {
  settings: Settings;
  clock: Clock;
  logger: Logger;
  /** The disk failed or hangs: the process must exit. */
  onFatal(error: Error): void;
  /** To the thread of the background roles, which opens its stores with `openBackgroundStores` after this. */
  background?: ThreadLink | undefined;
  /** To the thread of the management API, which opens its stores with `openManagementStores` after this. */
  management?: ThreadLink | undefined;
}
type EventStores = Pick<Stores, 'log' | 'visitors' | 'leases' | 'ephemeral' | 'space' | 'close'>;

export async function openStores(deps: StoresDeps): Promise<Stores> {
  const { settings, clock, logger } = deps;
  const onConnectionError = (error: Error) => logger.warn({ err: error }, 'database connection lost');
  const opened: { close(): Promise<void> }[] = [];
  try {
    const { databaseUrl, dataDir, natsUrl } = settings;
    if (natsUrl === undefined) {
      // Before the migrations: a restore, or another process, may be at work on the folder.
      opened.push(await naming('DATA_DIR', lock(dataDir)));
      removeAbandonedCopies(dataDir);
      if (databaseUrl !== undefined) requireWholeLog(dataDir);
    }
    const exposed = tightenDataDir(dataDir);
    if (exposed.length > 0) logger.warn({ files: exposed }, 'files in DATA_DIR are readable by other users and cannot be changed');
    const databases = await naming(
      'DATA_DIR',
      openDatabases({ databaseUrl, dataDir, clock, onConnectionError, log: natsUrl === undefined }),
    );
    opened.unshift(databases);
    const { config, observe, migrate } = databases;
    if (natsUrl === undefined) removeUnfinished(dataDir);
    const events = await (natsUrl === undefined ? naming('DATA_DIR', openEmbedded(deps)) : naming('NATS_URL', openAtScale(deps, natsUrl)));
    opened.unshift(events);
    if (databaseUrl === undefined) await noteStores(dataDir, config.db, { log: natsUrl === undefined, now: clock.now() });
    const space = { ...events.space };
    if (databaseUrl === undefined) {
      const traces = openSqliteSpace(join(dataDir, OBSERVE_FILE));
      opened.splice(opened.indexOf(databases) + 1, 0, traces);
      space.traces = () => traces.read();
    }
    return { config, observe, migrate, ...events, space, close: () => closeAll(opened) };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/** The embedded files are migrated at once. PostgreSQL may be unavailable: it is connected to at the first query. */
async function openDatabases(
  options: Required<ConfigStoreOptions> & { log: boolean },
): Promise<Pick<Stores, 'config' | 'observe' | 'migrate'> & { close(): Promise<void> }> {
  if (options.databaseUrl === undefined) {
    const config = await openConfigStore(options);
    try {
      await requireStores(options.dataDir, config.db, options);
    } catch (error) {
      await config.close();
      throw error;
    }
    const observe = await openObserve(options);
    return { config, observe, migrate: async () => {}, close: () => closeAll([observe, config]) };
  }
  const config = openUnmigrated(options);
  const observe = connectObserve(options);
  return {
    config,
    observe,
    async migrate() {
      await naming(
        'DATABASE_URL',
        migrateConfig(config.db, config.engine, () => options.clock.now()),
      );
      await naming('DATABASE_URL', prepareObserve(kyselyWriter(observe)));
    },
    async close() {
      await closeObserve(observe);
      await config.close();
    },
  };
}

const REMIND_EVERY_MS = 5_000;
/** The start waits until the broker is up. The log line explains the wait in case NATS_URL is wrong; the logger writes it once a minute. */
export async function warnWhileWaiting<T>(connecting: Promise<T>, logger: Logger): Promise<T> {
  const reminder = setInterval(
    () =>
      logger.warn({ err: new LogUnavailable('no server accepts the connection') }, 'NATS_URL: no server accepts the connection, waiting'),
    REMIND_EVERY_MS,
  );
  try {
    return await connecting;
  } finally {
    clearInterval(reminder);
  }
}

/** Logs one line when the connection is lost and one when it is restored. The errors that follow are about the same outage. */
async function logConnectionLoss(connection: NatsConnection, logger: Logger): Promise<void> {
  let away = false;
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' && !away) {
      away = true;
      logger.warn({ err: new LogUnavailable('the connection to NATS was lost') }, 'NATS connection lost, events are rejected or wait');
    } else if (type === 'reconnect' && away) {
      away = false;
      logger.info('NATS connection restored');
    }
  }
}

/** Adds the setting to the message: a store that cannot be opened usually means a wrong setting. */
async function naming<T>(variable: string, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    throw new Error(`${variable}: ${messageOf(error)}`, { cause: error });
  }
}
/** For a host with several addresses, Node's error has an empty message and one inner error per address. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

async function lock(dataDir: string): Promise<{ close(): Promise<void> }> {
  requireDataDir(dataDir);
  return ownAlone(dataDir);
}

async function closeAll(opened: { close(): Promise<void> }[]): Promise<void> {
  for (const store of opened) await store.close();
}

async function openEmbedded(deps: StoresDeps): Promise<EventStores> {
  const { management } = deps;
  const stores = await openLocal(deps);
  if (management === undefined) return stores;
  const [{ shareLog }, { shareVisitors }] = await Promise.all([import('./event-log/shared.ts'), import('./visitors/shared.ts')]);
  const shared = shareLog(management, stores.log);
  shareVisitors(management, stores.visitors);
  return { ...stores, close: () => closeAll([shared, stores]) };
}

async function openLocal(deps: StoresDeps): Promise<EventStores> {
  const { settings, clock, logger, onFatal, background, management } = deps;
  if (background !== undefined) return openForeground(deps, background);
  const [{ openLmdbLog }, { openLmdbVisitors }, { embeddedLeases }, { threadsEphemeral }] = await Promise.all([
    import('./event-log/lmdb.ts'),
    import('./visitors/lmdb.ts'),
    import('./leases/embedded.ts'),
    import('./ephemeral/threads.ts'),
  ]);
  const onError = handlerFailed(logger);
  const log = await openLmdbLog({ path: logFolder(settings), dedupWindowMs: settings.dedupWindowMs, clock, onFatal, onError });
  const visitors = openLmdbVisitors(log, unreadableVisitor(logger));
  const leases = embeddedLeases({ onError });
  const ephemeral = threadsEphemeral(management === undefined ? [] : [management], { onError: frameLost(logger) });
  const space = { log: () => log.environment.space() };
  return { log, visitors, leases, ephemeral, space, close: () => closeAll([leases, visitors, ephemeral, log]) };
}

/** The stores of requests, where the background roles have a thread of their own. */
async function openForeground({ settings, clock, logger, onFatal, management }: StoresDeps, link: ThreadLink): Promise<EventStores> {
  const [{ openIngestLog }, { sharedLog }, { sharedVisitors }, { embeddedLeases }, { threadsEphemeral }] = await Promise.all([
    import('./event-log/lmdb.ts'),
    import('./event-log/shared.ts'),
    import('./visitors/shared.ts'),
    import('./leases/embedded.ts'),
    import('./ephemeral/threads.ts'),
  ]);
  const onError = handlerFailed(logger);
  const ingest = await openIngestLog({
    path: logFolder(settings),
    dedupWindowMs: settings.dedupWindowMs,
    clock,
    topics: ingestPartitions.topics,
    onFatal,
    onError,
    onStored: (topic, next) => link.tell('log.grown', [topic, next]),
  });
  const log = sharedLog(link, ingest);
  const visitors = sharedVisitors(link);
  const leases = embeddedLeases({ onError });
  const ephemeral = threadsEphemeral(management === undefined ? [link] : [link, management], { onError: frameLost(logger) });
  return { log, visitors, leases, ephemeral, space: {}, close: () => closeAll([leases, ephemeral, log]) };
}

/** The embedded stores of the background roles. The main thread has migrated the database, and appends to the topics of ingest. */
export async function openBackgroundStores({
  settings,
  clock,
  logger,
  onFatal,
  link,
  ephemeral,
}: Omit<StoresDeps, 'background'> & { link: ThreadLink; ephemeral: Ephemeral }): Promise<Omit<Stores, 'observe' | 'migrate'>> {
  const [{ openLmdbLog }, { followIngest, shareLog }, { openLmdbVisitors }, { shareVisitors }, { embeddedLeases }] = await Promise.all([
    import('./event-log/lmdb.ts'),
    import('./event-log/shared.ts'),
    import('./visitors/lmdb.ts'),
    import('./visitors/shared.ts'),
    import('./leases/embedded.ts'),
  ]);
  const onError = handlerFailed(logger);
  const { dataDir, dedupWindowMs } = settings;
  const config = openUnmigrated({ dataDir });
  const log = await openLmdbLog({ path: logFolder(settings), dedupWindowMs, clock, onFatal, onError, part: 'others' });
  const shared = shareLog(link, log);
  followIngest(link, log);
  const visitors = openLmdbVisitors(log, unreadableVisitor(logger));
  shareVisitors(link, visitors);
  const leases = embeddedLeases({ onError });
  const space = { log: () => log.environment.space() };
  return { config, log, visitors, leases, ephemeral, space, close: () => closeAll([shared, leases, visitors, ephemeral, log, config]) };
}

/** The embedded stores of the management API. The main thread has migrated the databases, and its log and visitors are asked for. */
export async function openManagementStores({
  settings: { dataDir },
  logger,
  link,
  ephemeral,
}: Pick<StoresDeps, 'settings' | 'logger'> & { link: ThreadLink; ephemeral: Ephemeral }): Promise<Omit<Stores, 'migrate' | 'space'>> {
  const [{ sharedLog }, { sharedVisitors }, { embeddedLeases }] = await Promise.all([
    import('./event-log/shared.ts'),
    import('./visitors/shared.ts'),
    import('./leases/embedded.ts'),
  ]);
  const config = openUnmigrated({ dataDir });
  const observe = connectObserve({ dataDir, onConnectionError: (error) => logger.warn({ err: error }, 'database connection lost') });
  const log = sharedLog(link);
  const visitors = sharedVisitors(link);
  const leases = embeddedLeases({ onError: handlerFailed(logger) });
  const databases = { close: () => closeObserve(observe) };
  return {
    config,
    observe,
    log,
    visitors,
    leases,
    ephemeral,
    close: () => closeAll([leases, visitors, ephemeral, log, databases, config]),
  };
}

const unreadableVisitor = (logger: Logger) => (error: unknown) =>
  logger.error({ err: error }, 'stored visitor cannot be read, starting anew');
const handlerFailed = (logger: Logger) => (error: unknown) =>
  logger.error({ err: error }, 'record handler failed, records will be redelivered');
const frameLost = (logger: Logger) => (error: unknown) => logger.warn({ err: error }, 'live frame or hint lost');

function logFolder({ dataDir }: Settings): string {
  const path = join(dataDir, 'log');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

async function openAtScale({ settings, clock, logger }: StoresDeps, natsUrl: string): Promise<EventStores> {
  const [{ connectNats, openJetStreamLog }, { openKvVisitors }, { openKvLeases }, { natsEphemeral }] = await Promise.all([
    import('./event-log/jetstream.ts'),
    import('./visitors/jetstream-kv.ts'),
    import('./leases/jetstream-kv.ts'),
    import('./ephemeral/nats.ts'),
  ]);
  const onError = handlerFailed(logger);
  const onLeaseError = (error: unknown) => logger.warn({ err: error }, 'lease not renewed, retrying');
  const connection = await warnWhileWaiting(connectNats(natsUrl, natsSecurity(settings)), logger);
  void logConnectionLoss(connection, logger);
  const replicas = settings.natsReplicas;
  const log = await openJetStreamLog({
    connection,
    dedupWindowMs: settings.dedupWindowMs,
    replicas,
    streams: settings.natsStreams,
    partitions: settings.partitions,
    onPartitions: (epochs) => ingestPartitions.update(epochs),
    clock,
    onError,
    onWarning: (message, error) => (error === undefined ? logger.warn(message) : logger.warn({ err: error }, message)),
  });
  const visitors = await openKvVisitors({ connection, replicas, onUnreadable: unreadableVisitor(logger) });
  const leases = await openKvLeases({ connection, replicas, clock, onError: onLeaseError });
  const ephemeral = natsEphemeral({ connection, onError: frameLost(logger) });
  return { log, visitors, leases, ephemeral, space: {}, close: () => closeAll([leases, visitors, ephemeral, log, connection]) };
}

export function natsSecurity({ natsCredentials, natsNkey, natsCa, natsCert, natsKey }: Settings): NatsSecurity {
  return { credentialsFile: natsCredentials, nkeyFile: natsNkey, caFile: natsCa, certFile: natsCert, keyFile: natsKey };
}
