import type { Integration } from '@firsthand/core/config/resources.ts';
import type { Logger } from 'pino';
import type { Settings } from '../../config.ts';
import type { GuardedClient } from '../../outbound/guarded-client.ts';
import type { TokenCache } from '../../outbound/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { AttemptCounts } from './metrics.ts';

/** The integration as another revision of its template has it; undefined where there is no such revision. */
export type CompileRevision = (integration: Integration, revisionNumber: number) => Promise<CompiledIntegration | undefined>;

/** What one integration's worker needs; everything an integration waits for is its own. */
export interface WorkerDeps {
  log: EventLog;
  tap: Tap;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  attempts: AttemptCounts;
  client: GuardedClient;
  tokens: TokenCache;
  compileRevision: CompileRevision | undefined;
  settings: Pick<Settings, 'retryBaseMs' | 'deadLetterRetentionMs'>;
}

export type HealthStatus = 'ok' | 'failing' | 'paused' | 'misconfigured';
export interface IntegrationHealth {
  status: HealthStatus;
  last_success_at: string | null;
  last_error: string | null;
  waiting: number;
  oldest_waiting_at: string | null;
  warnings: string[];
}

/** Published on this channel every few seconds: what the outcomes cannot tell to a process that does not deliver. */
export const DELIVERY_HEALTH_CHANNEL = 'delivery-health';
export interface DeliveryHealthNotice {
  /** Only integrations whose status is not `ok`; a notice older than three intervals is void. */
  integrations: { integration_id: string; status: HealthStatus; until?: string }[];
  interval_ms: number;
  /** Tells the processes apart. */
  from: string;
}
/** Publish on this channel after appending to a replay topic: it is then looked at once instead of at the next round. */
export const REPLAY_CHANNEL = 'replay';
