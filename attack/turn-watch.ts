/**
 * Loaded into a service with `--import`: measures the processor time that the main thread takes for each turn of the event loop, garbage
 * collection included. An event waits for at most one turn. On a busy machine processor time says more than elapsed time. SIGUSR2 writes the
 * figures since the last signal.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export interface TurnFigures {
  /** Counts the signals. */
  number: number;
  /** Milliseconds of the longest turn, and of garbage collection in it. */
  longest: number;
  gc: number;
  above10: number;
  above20: number;
}
export const TURNS_MARK = 'turns of the event loop: ';

const LOOK_MS = 1;
const LONG_MS = 10;

if (isMainThread && process.env.WATCH_TURNS === '1') {
  let long: { from: number; to: number; cpu: number }[] = [];
  let pauses: { at: number; ms: number }[] = [];
  let longest = 0;
  let number = 0;
  let from = performance.now();
  let before = process.threadCpuUsage();
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) pauses.push({ at: startTime, ms: duration });
  }).observe({ entryTypes: ['gc'] });
  setInterval(() => {
    const now = process.threadCpuUsage();
    const cpu = (now.user + now.system - before.user - before.system) / 1_000;
    const to = performance.now();
    if (cpu > LONG_MS) long.push({ from, to, cpu });
    longest = Math.max(longest, cpu);
    before = now;
    from = to;
  }, LOOK_MS).unref();
  process.on('SIGUSR2', () => {
    const worst = long.toSorted((a, b) => b.cpu - a.cpu)[0];
    const gc = pauses.filter(({ at }) => worst !== undefined && at >= worst.from && at <= worst.to).reduce((sum, { ms }) => sum + ms, 0);
    const round = (ms: number) => Math.round(ms * 10) / 10;
    const above20 = long.filter(({ cpu }) => cpu > 2 * LONG_MS).length;
    const figures: TurnFigures = { number: ++number, longest: round(longest), gc: round(gc), above10: long.length, above20 };
    process.stderr.write(`${TURNS_MARK}${JSON.stringify(figures)}\n`);
    long = [];
    pauses = [];
    longest = 0;
  });
}
