/** The processes of an installation, from their announcements. Without NATS there is one. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { PROCESS_CHANNEL, type ProcessNotice } from '../channels.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import { VERSION } from '../version.ts';
import { Announcements } from './announcements.ts';

const INTERVAL_MS = 5_000;

export type ProcessState = Omit<ProcessNotice, 'interval_ms' | 'left'>;

export interface Processes {
  /** This process first, then the others by start. One that falls silent is left out. */
  list(): ProcessState[];
  stop(): void;
}

export interface DescribeDeps {
  settings: Pick<Settings, 'roles'>;
  log: Pick<EventLog, 'available'>;
  snapshots: SnapshotSource;
  clock: Clock;
}

export function describeProcess({ settings, log, snapshots, clock }: DescribeDeps): () => ProcessState {
  const id = randomUUID();
  return () => ({
    id,
    host: hostname(),
    pid: process.pid,
    roles: [...settings.roles],
    version: VERSION,
    started_at: new Date(clock.now() - Math.floor(process.uptime() * 1_000)).toISOString(),
    memory_bytes: process.memoryUsage.rss(),
    log_available: log.available,
    configuration_version: snapshots.current().version,
  });
}

export function watchProcesses({
  ephemeral,
  clock,
  describe,
}: {
  ephemeral: Ephemeral;
  clock: Clock;
  describe(): ProcessState;
}): Processes {
  const own = describe().id;
  const others = new Announcements<ProcessState>(clock);
  const announce = (left?: true) =>
    ephemeral.publish(PROCESS_CHANNEL, { ...describe(), interval_ms: INTERVAL_MS, ...(left && { left }) } satisfies ProcessNotice);
  const unsubscribe = ephemeral.subscribe(PROCESS_CHANNEL, (message) => {
    const { interval_ms, left, ...state } = message as ProcessNotice;
    if (state.id === own) return;
    if (left) {
      others.delete(state.id);
      return;
    }
    const isNew = others.get(state.id) === undefined;
    others.note([[state.id, state]], interval_ms);
    // A newcomer learns of this process at once.
    if (isNew) announce();
  });
  const timer = setInterval(announce, INTERVAL_MS);
  timer.unref();
  announce();
  return {
    list() {
      return [describe(), ...others.values().sort((a, b) => (a.started_at < b.started_at ? -1 : 1))];
    },
    stop() {
      clearInterval(timer);
      unsubscribe();
      announce(true);
    },
  };
}
