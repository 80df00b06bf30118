/**
 * Builds collectors requested through the management API, one at a time, in the process that holds the lease. The table is the queue, so
 * the next process takes over requests that a dead process left. Until a build is ready, and after a failed build, the previous file stays
 * in place.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildCollector, CollectorConfigError } from '@firsthand/collector/build/builder.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { LiveSnapshot } from '../snapshot/source.ts';
import { failBuild, finishBuild, type QueuedBuild, takeNextBuild } from '../stores/config/collector-builds.ts';
import type { Db } from '../stores/config/schema.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { Leases } from '../stores/leases/port.ts';
import { buildInput } from './build-input.ts';
import { BUILD_FINISHED_CHANNEL, BUILD_WANTED_CHANNEL } from './channels.ts';

const BUILDER_LEASE = 'collector-builder';
/** Hints may be lost, or a process may die before it sends one. */
const LOOK_EVERY_MS = 2_000;
/** A build takes a fraction of a second. A hanging build must not block the others. */
const MAX_BUILD_MS = 60_000;
const MAX_REASON = 1_000;

export interface CollectorBuilderDeps {
  db: Db;
  leases: Leases;
  ephemeral: Ephemeral;
  snapshots: Pick<LiveSnapshot, 'current' | 'reload'>;
  settings: Pick<Settings, 'ingestUrl'>;
  clock: Clock;
  logger: Logger;
  build?: typeof buildCollector;
}

export function startCollectorBuilder(deps: CollectorBuilderDeps): { stop(): Promise<void> } {
  let ending: (() => Promise<void>) | undefined;
  const share = deps.leases.share([BUILDER_LEASE], {
    async won() {
      ending = work(deps);
    },
    async lost() {
      await ending?.();
      ending = undefined;
    },
  });
  return { stop: () => share.stop() };
}

/** Processes the queue until stopped. The running build is finished first. */
function work(deps: CollectorBuilderDeps): () => Promise<void> {
  const { db, ephemeral, logger } = deps;
  let stopped = false;
  let alarm = new AbortController();
  const wake = () => alarm.abort();
  const forget = ephemeral.subscribe(BUILD_WANTED_CHANNEL, wake);

  async function loop(): Promise<void> {
    while (!stopped) {
      alarm = new AbortController();
      try {
        for (let next = await takeNextBuild(db); next !== undefined && !stopped; next = await takeNextBuild(db)) await buildOne(deps, next);
      } catch (error) {
        // The request is still in the table.
        logger.warn({ err: error }, 'database unavailable, collector builds wait');
      }
      // A hint that arrived while we worked has already aborted this wait.
      if (!stopped) await sleep(LOOK_EVERY_MS, undefined, { signal: alarm.signal, ref: false }).catch(() => {});
    }
  }
  const running = loop();
  return async () => {
    stopped = true;
    forget();
    wake();
    await running;
  };
}

async function buildOne(deps: CollectorBuilderDeps, build: QueuedBuild): Promise<void> {
  const { db, clock, logger, snapshots, settings } = deps;
  const started = clock.monotonic();
  const about = { build_id: build.id, pipeline_id: build.pipeline_id };
  const now = () => new Date(clock.now()).toISOString();
  // Another process may have just written the change that this build is for.
  await snapshots.reload();
  const result = await attempt(deps, () => buildInput(snapshots.current(), build.pipeline_id, settings.ingestUrl));
  const duration_ms = Math.round(clock.monotonic() - started);
  if (result.ok) {
    await finishBuild(db, build, result.file, now());
    const { version_hash, file_size_bytes } = result.file;
    logger.info({ ...about, version_hash, file_size_bytes, duration_ms }, 'collector built');
  } else {
    await failBuild(db, build, result.reason, now());
    if (result.cause === undefined) logger.info({ ...about, reason: result.reason, duration_ms }, 'collector not built');
    else logger.error({ ...about, err: result.cause, duration_ms }, 'collector not built');
  }
  deps.ephemeral.publish(BUILD_FINISHED_CHANNEL, build.pipeline_id);
}

type Attempt = { ok: true; file: Parameters<typeof finishBuild>[2] } | { ok: false; reason: string; cause?: unknown };

async function attempt(deps: CollectorBuilderDeps, read: () => ReturnType<typeof buildInput>): Promise<Attempt> {
  try {
    const input = read();
    if (input === undefined) return { ok: false, reason: 'The pipeline was deleted.' };
    const { code, map, version_hash, file_size_bytes } = await inTime((deps.build ?? buildCollector)(input));
    const { script_filename } = input.pipeline.js_builder_config;
    return { ok: true, file: { script_filename, version_hash, file_size_bytes, source: code, source_map: map } };
  } catch (error) {
    if (error instanceof CollectorConfigError) return { ok: false, reason: error.message.slice(0, MAX_REASON) };
    // Other errors may reveal paths and internals, so they go to the log only.
    return { ok: false, reason: 'The bundler failed. The service log has the reason.', cause: error };
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(MAX_BUILD_MS, undefined, { signal: done.signal, ref: false }).then(
    () => Promise.reject(new Error(`The build took more than ${MAX_BUILD_MS} ms.`)),
    () => work,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
