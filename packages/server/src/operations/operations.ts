/** Dependencies of the management API, besides the configuration store, for operations on events. */
import type { SourceStatus } from '../channels.ts';
import type { GuardedClient } from '../outbound/guarded-client.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { ObserveStore } from '../stores/observe/schema.ts';
import type { VisitorStore } from '../stores/visitors/port.ts';
import type { Sender } from '../transports/sender.ts';
import type { ProcessState } from './processes.ts';

export interface Operations {
  sandbox: Sandbox;
  log: EventLog;
  observe: ObserveStore;
  visitors: VisitorStore;
  snapshots: SnapshotSource;
  ephemeral: Ephemeral;
  sender: Sender;
  client: Pick<GuardedClient, 'send'>;
  /** Whether a deliverer reports this integration as paused by a limit. */
  paused(integrationId: string): boolean;
  /** Why the integration cannot run, as its deliverer reports; undefined where it runs. */
  cannotRun(integrationId: string): string | undefined;
  /** Every process of the installation, the answering one first. */
  processes(): ProcessState[];
  /** Undefined for a source that no process reads from its broker now. */
  sourceStatus(sourceId: string): SourceStatus | undefined;
}
