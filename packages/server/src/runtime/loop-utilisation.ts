import { performance } from 'node:perf_hooks';

/** The returned function returns the share of time since its last call in which the event loop was busy. */
export function loopUtilisation(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
