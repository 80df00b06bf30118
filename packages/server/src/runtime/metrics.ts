import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** The metrics of `/metrics`: one registry per process, created by `main`, updated by the recorder and the snapshot. */
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
      help: 'Events by outcome, as recorded by this process.',
      labelNames: ['kind'],
      registers,
    }),
    dropped: new Counter({
      name: 'firsthand_dropped_total',
      help: 'Dropped events by reason, as recorded by this process.',
      labelNames: ['reason'],
      registers,
    }),
    rejected: new Counter({
      name: 'firsthand_rejected_total',
      help: 'Events rejected by ingest, by error code.',
      labelNames: ['code'],
      registers,
    }),
    snapshotVersion: new Gauge({
      name: 'firsthand_snapshot_version',
      help: 'Configuration version that this process has loaded.',
      registers,
    }),
    snapshotFaults: new Gauge({
      name: 'firsthand_snapshot_faults',
      help: 'Configuration items that are disabled because they do not compile.',
      registers,
    }),
  };
}
