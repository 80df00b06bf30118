/** Messages between roles on the ephemeral bus. A role that misses one falls back to its next periodic check. */

/** Published by every delivering process every few seconds: state that outcomes do not show. */
export const DELIVERY_HEALTH_CHANNEL = 'delivery-health';
export type HealthStatus = 'ok' | 'failing' | 'paused' | 'misconfigured';
export interface DeliveryHealthNotice {
  /** Only integrations whose status is not `ok`. A notice older than three intervals is void. */
  integrations: {
    integration_id: string;
    status: HealthStatus;
    until?: string;
    /** Why it cannot run at all. */
    reason?: string;
  }[];
  interval_ms: number;
  /** Random id of the publishing process. */
  from: string;
}

/** Publish after appending to a replay topic, so that delivery reads it now instead of at its next check. */
export const REPLAY_CHANNEL = 'replay';

/** Publish after erasing visitors from the store, so that processors drop them from memory. */
export const VISITORS_ERASED_CHANNEL = 'visitors-erased';
export interface VisitorsErased {
  org_id: string;
  anonymous_ids: string[];
}

/** Published every few seconds by the process that reads a source from its broker. */
export const SOURCE_STATUS_CHANNEL = 'source-status';
export interface SourceStatus {
  webhook_source_id: string;
  state: 'connecting' | 'running' | 'failing';
  /** Messages that wait at the broker; null until it is known. */
  lag: number | null;
  last_error: string | null;
  last_message_at: string | null;
}
export interface SourceStatusNotice {
  sources: SourceStatus[];
  interval_ms: number;
}

/** Published by every process every few seconds, and once when it ends: what the installation consists of. */
export const PROCESS_CHANNEL = 'process';
export interface ProcessNotice {
  /** Random, per start. */
  id: string;
  host: string;
  pid: number;
  roles: string[];
  version: string;
  started_at: string;
  /** Resident. */
  memory_bytes: number;
  log_available: boolean;
  configuration_version: number;
  interval_ms: number;
  left?: true;
}
