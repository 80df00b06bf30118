/** How far delivery is behind, for each integration that this process delivers. */
import type { Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { MetricFamily } from '../../runtime/metric-families.ts';
import { registerRead } from '../../runtime/read-metric.ts';
import { inTurns, turns } from '../../runtime/turns.ts';
import type { Worker } from './worker.ts';

/** Both gauges share one reading: on JetStream each integration costs a request. */
const READING_LASTS_MS = 1_000;

interface Backlog {
  integration_id: string;
  vendor: string;
  events: number;
  oldestSeconds: number;
}

export function registerBacklogGauges(registry: Registry, workers: () => Iterable<Worker>, clock: Clock): void {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Backlog[]> = Promise.resolve([]);

  async function readOne(worker: Worker): Promise<Backlog> {
    const { waiting, oldest } = await worker.waiting();
    const oldestSeconds = oldest === undefined ? 0 : Math.max(0, clock.now() - oldest) / 1_000;
    return { integration_id: worker.id, vendor: worker.compiled.integration.vendor, events: waiting, oldestSeconds };
  }
  function read(): Promise<Backlog[]> {
    if (clock.monotonic() - readAt >= READING_LASTS_MS) {
      readAt = clock.monotonic();
      reading = inTurns([...workers()], readOne);
    }
    return reading;
  }
  async function series(measure: (backlog: Backlog) => number): Promise<MetricFamily['values']> {
    const values: MetricFamily['values'] = [];
    // Every lane of an integration counts all records that it has not read. The slowest one counts.
    for (const lanes of Map.groupBy(await read(), ({ integration_id }) => integration_id).values()) {
      const [{ integration_id, vendor } = { integration_id: '', vendor: '' }] = lanes;
      values.push({ labels: { integration_id, vendor }, value: Math.max(...lanes.map(measure)) });
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
    }
    return values;
  }
  const gauge = (name: string, help: string, measure: (backlog: Backlog) => number) =>
    registerRead(registry, { name, help, type: 'gauge', labelNames: ['integration_id', 'vendor'], read: () => series(measure) });
  gauge('firsthand_delivery_backlog_events', 'Events that wait for delivery, retries included.', (backlog) => backlog.events);
  gauge(
    'firsthand_delivery_oldest_seconds',
    'Age of the oldest event that waits for delivery; 0 without one.',
    (backlog) => backlog.oldestSeconds,
  );
}
