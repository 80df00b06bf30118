import type { Attempt, DeadLetterStage, DropReason } from '@firsthand/core/outcome/outcome.ts';
import type { DecodedEventRecord } from '../../event-record.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import type { RetryState } from './retry-state.ts';

/** One event that the log handed to one integration and that is not settled yet. */
export interface HeldEvent {
  delivery: Delivery;
  decoded: DecodedEventRecord;
  /** The configuration it is delivered with. */
  compiled: CompiledIntegration;
  replay: boolean;
  /** The sealed batch that it belongs to. */
  sealed?: string;
}

/** What happens to a held event. Every stage returns one of these; the settlement writer stores it. */
export type Settlement =
  | { kind: 'delivered'; attempt: Attempt }
  /** The vendor took the event as a job. `first`: now, and not at an earlier poll. */
  | { kind: 'accepted'; attempt: Attempt; delay_ms: number; state: RetryState; first: boolean }
  | { kind: 'retry'; attempt: Attempt; delay_ms: number; reason: string; state: RetryState }
  | { kind: 'dropped'; reason: DropReason }
  | { kind: 'dead_letter'; stage: DeadLetterStage; reason: string; attempts: Attempt[] };
