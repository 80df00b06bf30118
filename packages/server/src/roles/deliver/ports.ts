import type { Logger } from 'pino';
import type { Settings } from '../../config.ts';
import type { GuardedClient } from '../../outbound/guarded-client.ts';
import type { TokenCache } from '../../outbound/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ephemeral } from '../../stores/ephemeral/port.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';

/** Counters for `/metrics`; called once an attempt and once a settled event. */
export interface DeliverMetrics {
  attempt(vendor: string, result: 'delivered' | 'refused' | 'unavailable' | 'partial', duration_ms: number): void;
  settled(kind: 'delivered' | 'dropped' | 'dead_lettered', vendor: string): void;
}

/** What one integration's worker needs; everything an integration waits for is its own. */
export interface WorkerDeps {
  log: EventLog;
  tap: Tap;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  metrics: DeliverMetrics | undefined;
  client: GuardedClient;
  tokens: TokenCache;
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
export type { Ephemeral };
