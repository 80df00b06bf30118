import type { Integration } from '@firsthand/core/config/resources.ts';
import type { Registry } from 'prom-client';
import type { HealthStatus } from '../../channels.ts';
import type { Settings } from '../../config.ts';
import type { SharedLimits } from '../../rate-limits/shared-limits.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CompiledIntegration, SnapshotSource } from '../../snapshot/types.ts';
import type { Ephemeral } from '../../stores/ephemeral/port.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import type { Leases } from '../../stores/leases/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { Sender } from '../../transports/sender.ts';
import type { AttemptCounts } from './attempt-counts.ts';
import type { RecordCache } from './record-cache.ts';

/** Compiles the integration with another revision of its template; undefined where that revision does not exist. */
export type CompileRevision = (integration: Integration, revisionNumber: number) => Promise<CompiledIntegration | undefined>;

export interface DeliverDeps extends Omit<WorkerDeps, 'attempts' | 'compileRevision'> {
  snapshots: SnapshotSource;
  /** For attempts and the backlog of the delivered integrations. */
  registry?: Registry;
  /** Publishes health and receives replay hints. */
  ephemeral?: Ephemeral;
  /** Assigns each integration to one process at a time. Without it this process owns all of them. */
  leases?: Leases;
  /** For replays through another revision than the pinned one. Without it they use the pinned one. */
  compileRevision?: CompileRevision;
}

/** What one integration's worker uses. */
export interface WorkerDeps {
  log: EventLog;
  tap: Tap;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  attempts: AttemptCounts;
  sender: Sender;
  compileRevision: CompileRevision | undefined;
  /** Rates of integrations that several processes deliver. */
  rateLimits: SharedLimits;
  settings: Pick<Settings, 'retryBaseMs' | 'deadLetterRetentionMs'>;
}

/** What the workers of one process have in common. */
export interface SharedByWorkers {
  cache: RecordCache;
  /** Bytes of held events that one worker may have. */
  byteBudget: () => number;
  /** Whether several processes may deliver one integration. */
  hasLanes: boolean;
  /** How many other workers of this process read the same pipeline. */
  othersOfPipeline: () => number;
}

export interface IntegrationHealth {
  status: HealthStatus;
  last_success_at: string | null;
  last_error: string | null;
  waiting: number;
  oldest_waiting_at: string | null;
  warnings: string[];
}
