import { performance } from 'node:perf_hooks';

/** The returned function tells the share of time since its last call in which the event loop was at work. */
export function loopUtilisation(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
