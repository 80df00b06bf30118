import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** What `/metrics` shows. One registry per process, made by `main`; the recorder and the snapshot feed it. */
export interface Metrics {
  registry: Registry;
  events: Counter<'kind'>;
  dropped: Counter<'reason'>;
  rejected: Counter<'code'>;
  snapshotVersion: Gauge;
  snapshotFaults: Gauge;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    events: new Counter({
      name: 'firsthand_events_total',
      help: 'Events by what became of them, as recorded by this process.',
      labelNames: ['kind'],
      registers,
    }),
    dropped: new Counter({
      name: 'firsthand_dropped_total',
      help: 'Dropped events by reason word, as recorded by this process.',
      labelNames: ['reason'],
      registers,
    }),
    rejected: new Counter({
      name: 'firsthand_rejected_total',
      help: 'Events refused at the door, by error code.',
      labelNames: ['code'],
      registers,
    }),
    snapshotVersion: new Gauge({
      name: 'firsthand_snapshot_version',
      help: 'Configuration version that this process works from.',
      registers,
    }),
    snapshotFaults: new Gauge({
      name: 'firsthand_snapshot_faults',
      help: 'Pieces of configuration that are off because they do not compile.',
      registers,
    }),
  };
}
