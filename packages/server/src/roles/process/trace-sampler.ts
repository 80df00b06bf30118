import { fnv1a, mixed } from '@firsthand/core/hash/fnv1a.ts';
import type { Settings } from '../../config.ts';
import type { Clock } from '../../runtime/clock.ts';

const SECOND_MS = 1_000;

/** Decides for a processed event whether its trace is left out. */
export type LeavesOut = (eventId: string) => boolean;

/**
 * Up to TRACE_SAMPLE_ABOVE events a second this process traces every event, above that the share TRACE_SAMPLE. The choice is written into the
 * event's record, so that all its deliveries follow it. Which events belong to the share depends on their id alone.
 */
export function createTraceSampler(settings: Pick<Settings, 'traceSample' | 'traceSampleAbove'>, clock: Clock): LeavesOut | undefined {
  const { traceSample, traceSampleAbove } = settings;
  if (traceSample === 1) return undefined;
  let second = clock.monotonic();
  let count = 0;
  let before = 0;
  return (eventId) => {
    const now = clock.monotonic();
    if (now - second >= SECOND_MS) {
      before = now - second < 2 * SECOND_MS ? count : 0;
      count = 0;
      second = now;
    }
    count++;
    return (count > traceSampleAbove || before > traceSampleAbove) && fractionOf(eventId) >= traceSample;
  };
}

/** In [0, 1). */
function fractionOf(text: string): number {
  return mixed(fnv1a(text)) / 0x1_0000_0000;
}
