/**
 * Events a second for each pipeline, with a burst of one second (GCRA: one number per pipeline, the time at which its
 * bucket is full again). A request is admitted while one token remains; a batch may then go into debt.
 */
import type { Clock } from '../../runtime/clock.ts';

const BURST_MS = 1_000;
/** Arithmetic on fractions of milliseconds is not exact; an error of 0.0001 tokens is acceptable. */
const SLACK = 1e-4;

export interface RateLimiter {
  /** Milliseconds until a token is there; 0: admitted, and `events` are charged. */
  take(pipelineId: string, rate: number, events: number): number;
  /** Charges events that an admitted request turned out to hold beyond the first. */
  charge(pipelineId: string, rate: number, events: number): void;
  /** Forgets pipelines that are gone. */
  keep(pipelineIds: { has(id: string): boolean }): void;
}

export function createRateLimiter(clock: Clock): RateLimiter {
  const fullAt = new Map<string, { at: number }>();
  return {
    take(pipelineId, rate, events) {
      const now = clock.monotonic();
      const cost = 1_000 / rate;
      let bucket = fullAt.get(pipelineId);
      if (bucket === undefined) fullAt.set(pipelineId, (bucket = { at: now }));
      const at = Math.max(bucket.at, now);
      const wait = at - now - Math.max(BURST_MS - cost, 0);
      if (wait > cost * SLACK) return wait;
      bucket.at = at + cost * events;
      return 0;
    },
    charge(pipelineId, rate, events) {
      const bucket = fullAt.get(pipelineId);
      if (bucket) bucket.at += (1_000 / rate) * events;
    },
    keep(pipelineIds) {
      for (const id of fullAt.keys()) if (!pipelineIds.has(id)) fullAt.delete(id);
    },
  };
}
