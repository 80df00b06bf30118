import { expect, test } from 'vitest';
import type { Batch } from './batcher.ts';
import { type Lane, onlyLane } from './lanes.ts';
import type { Limiter } from './limiter.ts';
import { SendQueue } from './send-queue.ts';

const LIMITER = { mustLoad: false, take: () => 0 } as unknown as Limiter;
const ONE = onlyLane('int_1');
const TWO: Lane = { ...ONE, generation: 1, count: 2 };

/** The requests that a slow vendor and a slow log let out: each round one is answered, and nothing is stored. */
function mostUnstored({ concurrency, events, lane }: { concurrency: number; events: number; lane: Lane }): number {
  const queue = new SendQueue(LIMITER);
  const batch = { vendor: { concurrency }, parts: Array.from({ length: events }), bytes: 1 } as unknown as Batch;
  for (let n = 0; n < 1_000; n++) queue.push(batch);
  let inFlight = 0;
  let unstored = 0;
  do {
    while (queue.next(inFlight, unstored, lane).kind === 'send') inFlight++;
    inFlight--;
    unstored++;
  } while (inFlight > 0);
  return unstored;
}

test.for([
  { what: 'single events, by default', concurrency: 8, events: 1, lane: ONE, most: 10 },
  { what: 'single events, the largest max_in_flight', concurrency: 256, events: 1, lane: ONE, most: 256 },
  { what: 'single events, one of two deliverers', concurrency: 8, events: 1, lane: TWO, most: 5 },
  { what: 'batches', concurrency: 8, events: 100, lane: ONE, most: 8 },
])('requests that are sent and not stored: $what', ({ most, ...load }) => {
  expect(mostUnstored(load)).toBe(most);
});
