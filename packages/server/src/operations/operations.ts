/** What the management API needs beside the configuration store to show and to do things with events. */
import type { GuardedClient } from '../outbound/guarded-client.ts';
import type { TokenCache } from '../outbound/tokens.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';
import type { VisitorStore } from '../stores/visitors/port.ts';

export interface Operations {
  sandbox: Sandbox;
  log: EventLog;
  observe: ObserveDb;
  visitors: VisitorStore;
  snapshots: SnapshotSource;
  ephemeral: Ephemeral;
  client: GuardedClient;
  tokens: TokenCache;
  /** Whether a deliverer says that this integration is held back by a limit now. */
  paused(integrationId: string): boolean;
}
