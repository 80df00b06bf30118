/**
 * Owns the thread of the roles that read the log. These roles have a thread of their own so that requests do not wait for processing and delivery.
 * Both threads use the embedded stores: the main thread appends to the topics of ingest, and the other one does everything else.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../config.ts';
import type { ReadMetrics } from '../runtime/metric-families.ts';
import { threadEntry } from '../runtime/thread-entry.ts';
import { ThreadLink } from '../runtime/thread-link.ts';
import { LOG_ERRORS } from '../stores/event-log/shared.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';
import type { BackgroundData } from './thread.ts';

/** A young generation of 8 MB, as `npm start` gives the main thread. */
const YOUNG_MB = 24;
/** The same as the main thread. The threads for user code, rows and queries have a lower one. */
const PRIORITY = 0;
/** On two processors the second thread gains little and takes memory. */
const ENOUGH_PROCESSORS = 4;

/** Whether the roles that read the log have a thread of their own. */
export function hasBackground({ threads, databaseUrl, natsUrl, roles }: Settings): boolean {
  if (databaseUrl !== undefined || natsUrl !== undefined || !roles.has('ingest')) return false;
  if (!roles.has('process') && !roles.has('deliver')) return false;
  return threads === 'auto' ? availableParallelism() >= ENOUGH_PROCESSORS : threads === '2';
}

export interface Background {
  link: ThreadLink;
  /** Starts the roles. Call when this thread has opened its stores and prepared the database. */
  begin(): Promise<void>;
  /** Resolves when the roles use the present configuration. */
  reload(): Promise<void>;
  readMetrics: ReadMetrics;
  /** The roles finish what they have begun. */
  stop(): Promise<void>;
  /** After `stop`, and before this thread closes its stores. */
  close(): Promise<void>;
}
export interface BackgroundDeps {
  settings: Settings;
  record: boolean;
  /** Undefined: no spans are wanted. */
  onSpans: ((spans: readonly EncodedSpan[]) => void) | undefined;
  /** An exception left the roles in an unknown state. They can still be stopped. */
  onFailed(error: Error): void;
  /** The disk failed, or the thread is gone: the process must exit. */
  onFatal(error: Error): void;
}

export function startBackground({ settings, record, onSpans, onFailed, onFatal }: BackgroundDeps): Background {
  const worker = new Worker(threadEntry(new URL('./thread.ts', import.meta.url), PRIORITY), {
    eval: true,
    workerData: { settings, record, traces: onSpans !== undefined } satisfies BackgroundData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  worker.unref();
  const link = new ThreadLink(worker, LOG_ERRORS);
  if (onSpans) link.on('spans', onSpans);
  link.on('failed', (message: string) => onFailed(new Error(message)));
  link.on('fatal', (message: string) => onFatal(new Error(message)));
  let stopped = false;
  function ended(error: Error): void {
    link.end(error);
    if (!stopped) onFatal(error);
  }
  worker.on('error', (error) => ended(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', () => ended(new Error('the thread of the background roles ended')));
  return {
    link,
    begin: () => link.call('begin'),
    reload: () => link.call('reload'),
    readMetrics: () => link.call('metrics'),
    stop: () => link.call('stop'),
    async close() {
      await link.call('close');
      stopped = true;
      await worker.terminate();
    },
  };
}
