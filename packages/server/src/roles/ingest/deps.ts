import type { IncomingMessage } from 'node:http';
import type { Settings } from '../../config.ts';
import type { Addresses } from '../../http/public-origin.ts';
import type { SharedLimits } from '../../rate-limits/shared-limits.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretDigest } from '../../secrets/secret-digest.ts';
import type { SnapshotSource } from '../../snapshot/types.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { Capacity } from './capacity.ts';
import type { Proxies } from './client-address.ts';
import type { ConsumerDeps } from './consumers/start.ts';
import type { CountSummary, Counts } from './counts.ts';
import type { BodyReader } from './exchange.ts';
import type { FairAdmission } from './fair-admission.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RejectedEvents } from './rejected-events.ts';
import type { TurnShares } from './turn-shares.ts';

export interface IngestDeps {
  log: EventLog;
  snapshots: SnapshotSource;
  tap: Tap;
  settings: Pick<Settings, 'maxBodyBytes' | 'trustProxy' | 'deadLetterRetentionMs'> & Addresses;
  clock: Clock;
  logger: Logger;
  rateLimits: SharedLimits;
  /** Whether a challenge token is valid now for this pipeline. */
  verifyChallengeToken(token: string, pipelineId: string): boolean;
  /** Stands for a shared secret in a kept webhook. */
  digestSecret: SecretDigest;
  /** Called about once a second, for metrics. */
  onCounts?(summary: CountSummary): void;
  /** Reads sources from brokers. Without it this process serves webhooks only. */
  consumers?: ConsumerDeps;
  /** Called for every success reply, for metrics. */
  acceptDuration?: { observe(seconds: number): void };
}

/** What all requests share. */
export interface IngestContext extends IngestDeps {
  capacity: Capacity;
  turnShares: TurnShares;
  fairAdmission: FairAdmission;
  limiter: RateLimiter;
  counts: Counts;
  rejectedEvents: RejectedEvents;
  proxies: Proxies;
  readBody(req: IncomingMessage, reader: BodyReader): void;
  /** True while the service stops: every reply then closes its connection, so that clients move to another process. */
  draining: boolean;
}
