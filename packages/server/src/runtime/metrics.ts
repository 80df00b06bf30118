import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { longestStall } from './stall-watch.ts';

/** The metrics of `/metrics`: one registry per process, created by `main`, updated by the recorder and the snapshot. */
export interface Metrics {
  registry: Registry;
  events: Counter<'kind'>;
  dropped: Counter<'reason'>;
  rejected: Counter<'code'>;
  snapshotVersion: Gauge;
  snapshotFaults: Gauge;
  eventLoopStall: Gauge<'clock'>;
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
    eventLoopStall: new Gauge({
      name: 'firsthand_event_loop_stall_seconds',
      help: 'Longest time the event loop was held in the last minute, by the clock (wall) and by its own processor time (cpu).',
      labelNames: ['clock'],
      registers,
      collect() {
        const { wall, cpu } = longestStall();
        this.set({ clock: 'wall' }, wall / 1_000);
        this.set({ clock: 'cpu' }, cpu / 1_000);
      },
    }),
    snapshotFaults: new Gauge({
      name: 'firsthand_snapshot_faults',
      help: 'Configuration items that are disabled because they do not compile.',
      registers,
    }),
  };
}
