import type { GeoLookup } from '@firsthand/core/context/geo.ts';
import type { Registry } from 'prom-client';
import type { Settings } from '../../config.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { SnapshotSource } from '../../snapshot/types.ts';
import type { Ephemeral } from '../../stores/ephemeral/port.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import type { Leases } from '../../stores/leases/port.ts';
import type { VisitorStore } from '../../stores/visitors/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { LeavesOut } from './trace-sampler.ts';

export interface ProcessDeps {
  log: EventLog;
  leases: Leases;
  visitors: VisitorStore;
  snapshots: SnapshotSource;
  sandbox: Pick<Sandbox, 'run'>;
  tap: Tap;
  settings: Pick<Settings, 'deadLetterRetentionMs' | 'configReloadMs'>;
  /** Undefined: every event is traced. */
  leavesOutTrace?: LeavesOut | undefined;
  clock: Clock;
  logger: Pick<Logger, 'warn' | 'error' | 'info'>;
  geo?: GeoLookup | undefined;
  /** For the lag of the owned partitions. */
  registry?: Registry;
  /** Reports erased visitors, so that they are removed from memory too. */
  ephemeral?: Ephemeral | undefined;
}
