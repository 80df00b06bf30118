import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { DurationBuckets, registerHistogram } from './duration-buckets.ts';
import { registerLoopLag } from './loop-lag.ts';
import { longestStall } from './stall-watch.ts';

/** Of the timer with which `prom-client` measures the lag of the event loop: `registerLoopLag` needs none. */
const SELDOM_MS = 86_400_000;

/** The metrics of `/metrics`: one registry per thread with roles, updated by the recorder and the snapshot. */
export interface Metrics {
  registry: Registry;
  events: Counter<'kind'>;
  dropped: Counter<'reason'>;
  accepted: Counter;
  rejected: Counter<'reason'>;
  /** From the arrival of a collection request to its success reply. */
  acceptDuration: DurationBuckets;
  /** When the snapshot was last known to be current, on the monotonic clock. */
  snapshotConfirmed: { at: number };
  snapshotVersion: Gauge;
  snapshotFaults: Gauge;
  eventLoopStall: Gauge;
  eventLoopCpu: Gauge;
}

/** Adds what ingest counted since the last call. */
export function countAccepted(
  metrics: Pick<Metrics, 'accepted' | 'rejected'>,
  counts: { accepted: number; rejected: Partial<Record<string, number>> },
): void {
  metrics.accepted.inc(counts.accepted);
  for (const [reason, n] of Object.entries(counts.rejected)) metrics.rejected.inc({ reason }, n ?? 0);
}

/** `ofProcess`: with those that describe the whole process, which one of its threads has. */
export function createMetrics({ ofProcess = true } = {}): Metrics {
  const registry = new Registry();
  if (ofProcess) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: SELDOM_MS });
    registerLoopLag(registry);
  }
  const registers = [registry];
  const snapshotConfirmed = { at: performance.now() };
  new Gauge({
    name: 'firsthand_snapshot_age_seconds',
    help: 'Time since this process last saw that its configuration is current.',
    registers,
    collect() {
      this.set((performance.now() - snapshotConfirmed.at) / 1_000);
    },
  });
  const acceptDuration = new DurationBuckets();
  registerHistogram(registry, {
    name: 'firsthand_accept_duration_seconds',
    help: 'Time from the arrival of a collection request to its success reply.',
    labelNames: [],
    read: () => [{ labels: {}, durations: acceptDuration }],
  });
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
    accepted: new Counter({
      name: 'firsthand_events_accepted_total',
      help: 'Events that ingest stored and answered with success, without duplicates.',
      registers,
    }),
    rejected: new Counter({
      name: 'firsthand_events_rejected_total',
      help: 'Events and requests that ingest rejected, by error code.',
      labelNames: ['reason'],
      registers,
    }),
    acceptDuration,
    snapshotVersion: new Gauge({
      name: 'firsthand_snapshot_version',
      help: 'Configuration version that this process has loaded.',
      registers,
    }),
    eventLoopStall: new Gauge({
      name: 'firsthand_event_loop_stall_seconds',
      help: 'Longest time the event loop was held in the last minute, by the wall clock. Without that of the management API, where it has a thread of its own.',
      registers,
      collect() {
        this.set(longestStall().wall / 1_000);
      },
    }),
    eventLoopCpu: new Gauge({
      name: 'firsthand_event_loop_stall_cpu_seconds',
      help: 'Longest processor time that one step of the event loop took in the last minute. Less than the stall: the machine was busy.',
      registers,
      collect() {
        this.set(longestStall().cpu / 1_000);
      },
    }),
    snapshotConfirmed,
    snapshotFaults: new Gauge({
      name: 'firsthand_snapshot_faults',
      help: 'Configuration items that are disabled because they do not compile.',
      registers,
    }),
  };
}
