/**
 * Owns the thread of the roles that read the log. These roles have a thread of their own so that requests do not wait for processing and delivery.
 * Both threads use the embedded stores: the main thread appends to the topics of ingest, and the other one does everything else.
 */
import { availableParallelism } from 'node:os';
import type { Settings } from '../config.ts';
import type { ReadMetrics } from '../runtime/metric-families.ts';
import { ownRoleThread, type RoleThread, type RoleThreadOptions } from '../runtime/role-thread.ts';
import { LOG_ERRORS } from '../stores/event-log/shared.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';
import type { BackgroundData } from './thread.ts';

/** A young generation of 8 MB, as `npm start` gives the main thread. */
const YOUNG_MB = 24;
/** The same as the main thread. The threads for user code, rows and queries have a lower one. */
const PRIORITY = 0;
/** On two processors this thread gains little and takes memory. */
const ENOUGH_PROCESSORS = 4;

/** Whether the roles that read the log have a thread of their own. */
export function hasBackground({ threads, databaseUrl, natsUrl, roles }: Settings): boolean {
  if (databaseUrl !== undefined || natsUrl !== undefined || !roles.has('ingest')) return false;
  if (!roles.has('process') && !roles.has('deliver')) return false;
  return threads === 'auto' ? availableParallelism() >= ENOUGH_PROCESSORS : threads === '3';
}

export interface Background extends RoleThread {
  /** Resolves when the roles use the present configuration. */
  reload(): Promise<void>;
  readMetrics: ReadMetrics;
}
export interface BackgroundDeps extends Pick<RoleThreadOptions, 'onFailed' | 'onFatal'> {
  settings: Settings;
  record: boolean;
  /** Undefined: no spans are wanted. */
  onSpans: ((spans: readonly EncodedSpan[]) => void) | undefined;
}

export function startBackground({ settings, record, onSpans, ...ending }: BackgroundDeps): Background {
  const thread = ownRoleThread({
    of: 'processing and delivery',
    module: new URL('./thread.ts', import.meta.url),
    data: { settings, record, traces: onSpans !== undefined } satisfies BackgroundData,
    errors: LOG_ERRORS,
    priority: PRIORITY,
    youngMb: YOUNG_MB,
    ...ending,
  });
  const { link } = thread;
  if (onSpans) link.on('spans', onSpans);
  return { ...thread, reload: () => link.call('reload'), readMetrics: () => link.call('metrics') };
}
