/** Which engine stands behind each port: the only place that chooses. Servers' clients are loaded only where they are used. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { type ConfigStore, openConfigStore } from './config/open.ts';
import type { Ephemeral } from './ephemeral/port.ts';
import type { EventLog } from './event-log/port.ts';
import type { Leases } from './leases/port.ts';
import { openObserve } from './observe/open.ts';
import type { ObserveDb } from './observe/schema.ts';
import type { VisitorStore } from './visitors/port.ts';

export interface Stores {
  config: ConfigStore;
  observe: ObserveDb;
  log: EventLog;
  visitors: VisitorStore;
  leases: Leases;
  ephemeral: Ephemeral;
  close(): Promise<void>;
}
export interface StoresDeps {
  settings: Settings;
  clock: Clock;
  logger: Logger;
  /** The disk failed or does not answer: the process must end. */
  onFatal(error: Error): void;
}
type EventStores = Pick<Stores, 'log' | 'visitors' | 'leases' | 'ephemeral' | 'close'>;

export async function openStores(deps: StoresDeps): Promise<Stores> {
  const { settings, clock, logger } = deps;
  const onConnectionError = (error: Error) => logger.warn({ err: error }, 'a database connection was lost');
  const opened: { close(): Promise<void> }[] = [];
  try {
    const config = await openConfigStore({ databaseUrl: settings.databaseUrl, dataDir: settings.dataDir, clock, onConnectionError });
    opened.unshift(config);
    const observe = await openObserve({ databaseUrl: settings.databaseUrl, dataDir: settings.dataDir, onConnectionError });
    opened.unshift(observe);
    const events = await (settings.natsUrl === undefined ? openEmbedded(deps) : openAtScale(deps, settings.natsUrl));
    opened.unshift(events);
    return { config, observe, ...events, close: () => closeAll(opened) };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

async function closeAll(opened: { close(): Promise<void> }[]): Promise<void> {
  for (const store of opened) await store.close();
}

async function openEmbedded({ settings, clock, logger, onFatal }: StoresDeps): Promise<EventStores> {
  const [{ openLmdbLog }, { openLmdbVisitors }, { embeddedLeases }, { inProcessEphemeral }] = await Promise.all([
    import('./event-log/lmdb.ts'),
    import('./visitors/lmdb.ts'),
    import('./leases/embedded.ts'),
    import('./ephemeral/in-process.ts'),
  ]);
  const onError = (error: unknown) => logger.error({ err: error }, 'a handler failed; its records come again');
  const path = join(settings.dataDir, 'log');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const log = await openLmdbLog({ path, dedupWindowMs: settings.dedupWindowMs, clock, onFatal, onError });
  const visitors = openLmdbVisitors(log);
  const leases = embeddedLeases({ onError });
  const ephemeral = inProcessEphemeral({ onError });
  return { log, visitors, leases, ephemeral, close: () => closeAll([leases, visitors, ephemeral, log]) };
}

async function openAtScale({ settings, clock, logger }: StoresDeps, natsUrl: string): Promise<EventStores> {
  const [{ connectNats, openJetStreamLog }, { openKvVisitors }, { openKvLeases }, { natsEphemeral }] = await Promise.all([
    import('./event-log/jetstream.ts'),
    import('./visitors/jetstream-kv.ts'),
    import('./leases/jetstream-kv.ts'),
    import('./ephemeral/nats.ts'),
  ]);
  const onError = (error: unknown) => logger.error({ err: error }, 'a handler failed; its records come again');
  const connection = await connectNats(natsUrl);
  const replicas = settings.natsReplicas;
  const log = await openJetStreamLog({ connection, dedupWindowMs: settings.dedupWindowMs, replicas, clock, onError });
  const visitors = await openKvVisitors({ connection, replicas });
  const leases = await openKvLeases({ connection, replicas, clock, onError });
  const ephemeral = natsEphemeral({ connection, onError });
  return { log, visitors, leases, ephemeral, close: () => closeAll([leases, visitors, ephemeral, log, connection]) };
}
