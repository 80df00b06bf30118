/**
 * How late the event loop is, by the timer of the watch for stalls. `prom-client` would measure it with a timer of its own, a hundred times a
 * second, which was most of the work of an idle process.
 */
import { createHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** A lag that is longer counts as this. */
const LONGEST_NS = 60e9;
const lags = createHistogram({ lowest: 1, highest: LONGEST_NS, figures: 2 });

const SHOWN = {
  min: () => lags.min,
  max: () => lags.max,
  mean: () => lags.mean,
  stddev: () => lags.stddev,
  p50: () => lags.percentile(50),
  p90: () => lags.percentile(90),
  p99: () => lags.percentile(99),
};
const LAST = 'p99';

export function noteLag(ms: number): void {
  lags.record(Math.min(LONGEST_NS, Math.max(1, Math.round(ms * 1e6))));
}

/** Replaces the gauges of `prom-client` under their names. Like those, they cover the time since the last scrape. */
export function registerLoopLag(registry: Registry): void {
  for (const [which, read] of Object.entries(SHOWN)) {
    const name = `nodejs_eventloop_lag_${which}_seconds`;
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help: `How late timers of the event loop were since the last look: ${which}.`,
      registers: [registry],
      collect() {
        this.set(lags.count === 0 ? 0 : read() / 1e9);
        if (which === LAST) lags.reset();
      },
    });
  }
}
