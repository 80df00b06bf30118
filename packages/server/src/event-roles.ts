/** The roles that read the log: process, with what records its outcomes, and deliver. */
import type { Settings } from './config.ts';
import { startOutcomes } from './outcomes/start.ts';
import type { SharedLimits } from './rate-limits/shared-limits.ts';
import { createTraceSampler } from './roles/process/trace-sampler.ts';
import type { Clock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';
import type { Metrics } from './runtime/metrics.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Cipher } from './secrets/cipher.ts';
import { loadRevision } from './snapshot/revision.ts';
import type { LiveSnapshot } from './snapshot/source.ts';
import type { Db } from './stores/config/schema.ts';
import type { Ephemeral } from './stores/ephemeral/port.ts';
import type { EventLog } from './stores/event-log/port.ts';
import type { Leases } from './stores/leases/port.ts';
import type { VisitorStore } from './stores/visitors/port.ts';
import type { Tap } from './tap/port.ts';
import type { Telemetry } from './telemetry/start.ts';
import type { Sender } from './transports/sender.ts';

export interface EventRolesDeps {
  log: EventLog;
  visitors: VisitorStore;
  leases: Leases;
  ephemeral: Ephemeral;
  db: Db;
  cipher: Cipher;
  snapshots: LiveSnapshot;
  tap: Tap;
  rateLimits: SharedLimits;
  sandbox: Sandbox;
  sender: Sender;
  telemetry: Pick<Telemetry, 'addSpans'> | undefined;
  metrics: Metrics;
  settings: Settings;
  clock: Clock;
  logger: Logger;
  /** False leaves outcomes in the log. */
  record: boolean;
}

export async function startEventRoles(deps: EventRolesDeps): Promise<{ stop(): Promise<void> }> {
  const { db, cipher, settings, clock, metrics } = deps;
  const { registry } = metrics;
  const [processes, delivers] = [settings.roles.has('process'), settings.roles.has('deliver')];
  const geo =
    settings.geoipDb === undefined || !processes ? undefined : await (await import('./roles/process/geo.ts')).openGeo(settings.geoipDb);
  if (geo && !geo.ok) throw new Error(geo.fault);
  const processor = processes
    ? (await import('./roles/process/start.ts')).startProcess({
        ...deps,
        geo: geo?.ok ? geo.lookup : undefined,
        leavesOutTrace: createTraceSampler(settings, clock),
        registry,
      })
    : undefined;
  const outcomes = processes ? startOutcomes(deps) : undefined;
  const deliver = delivers
    ? (await import('./roles/deliver/start.ts')).startDeliver({
        ...deps,
        random: Math.random,
        registry,
        compileRevision: (integration, number) => loadRevision({ db, cipher, settings }, integration, number),
      })
    : undefined;
  return {
    async stop() {
      await processor?.stop();
      await deliver?.stop();
      await outcomes?.stop();
    },
  };
}
