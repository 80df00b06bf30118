/** Whether the sources of this process work, and how far they are behind. */
import { Gauge, type Registry } from 'prom-client';
import type { ConsumerLoop } from './consumer-loop.ts';

export function registerSourceGauges(registry: Registry, loops: () => Iterable<ConsumerLoop>): void {
  const gauge = (name: string, help: string, measure: (loop: ConsumerLoop) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['webhook_source_id', 'kind'],
      registers: [registry],
      collect() {
        this.reset();
        for (const loop of loops()) {
          const value = measure(loop);
          if (value !== null) this.set({ webhook_source_id: loop.compiled.source.id, kind: loop.compiled.source.kind }, value);
        }
      },
    });
  gauge('firsthand_source_lag_messages', 'Messages that wait at the broker of a source.', ({ status }) => status.lag);
  gauge('firsthand_source_up', '1 while a source reads from its broker, 0 while it cannot.', ({ status }) =>
    status.state === 'running' ? 1 : 0,
  );
}
