/** Events a second for each pipeline, with a burst of one second, over all processes. A batch may go into debt. */
import type { Limit } from '../../rate-limits/limit-account.ts';
import type { SharedLimits } from '../../rate-limits/shared-limits.ts';

export interface RateLimiter {
  /** Milliseconds until a token is there; 0: admitted, and one event is charged. */
  take(pipelineId: string, rate: number): number;
  /** Charges events that an admitted request turned out to hold beyond the first. */
  charge(pipelineId: string, rate: number, events: number): void;
}

export function createRateLimiter(limits: SharedLimits): RateLimiter {
  const pipelines = limits.limiter('pipeline');
  return {
    take: (pipelineId, rate) => pipelines.take(pipelineId, limitOf(rate)),
    charge: (pipelineId, rate, events) => pipelines.charge(pipelineId, limitOf(rate), events),
  };
}
function limitOf(rate: number): Limit {
  return { kind: 'rate', per_second: rate, burst: Math.max(1, rate) };
}
