import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { EventLog } from '../../stores/event-log/port.ts';

/** How far processing is behind, over the partitions that this process owns. */
export function registerLagGauge(
  registry: Registry,
  log: Pick<EventLog, 'lag'>,
  groups: () => readonly [topic: string, group: string][],
  clock: Clock,
): void {
  new Gauge({
    name: 'firsthand_processing_lag_seconds',
    help: 'Age of the oldest accepted event that is not processed yet; 0 without one.',
    registers: [registry],
    async collect() {
      const lags = await Promise.all(groups().map(([topic, group]) => log.lag(topic, group)));
      const oldest = Math.min(...lags.map((lag) => lag.oldest ?? Number.POSITIVE_INFINITY));
      this.set(Number.isFinite(oldest) ? Math.max(0, clock.now() - oldest) / 1_000 : 0);
    },
  });
}
