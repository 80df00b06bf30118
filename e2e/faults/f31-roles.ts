import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../harness/service.ts';
import { CLUSTER, type EventRole, row, startCluster } from './kit/cluster.ts';
import { type Fault, Figures } from './kit/fault.ts';

const ROLES: readonly EventRole[] = ['ingest', 'process', 'deliver'];
const TAKEOVER_S = 10;
/** Of a process that was told to end. */
const HANDOVER_S = 1;
const MOST_REPEATED = 10;

/** Not the first with ingest, which also serves the management API. Of the deliverers the one that owns the integration. */
async function victimOf(role: EventRole, [first, second]: [Service, Service]): Promise<Service> {
  if (role !== 'deliver') return second;
  const before = await Promise.all([attempts(first), attempts(second)]);
  await sleep(1_000);
  const after = await Promise.all([attempts(first), attempts(second)]);
  return after[0]! - before[0]! > after[1]! - before[1]! ? first : second;
}
async function attempts({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = [...text.matchAll(/^firsthand_delivery_attempts_total\{[^}]*\} (\d+)/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

export const f31: Fault = {
  id: 'F31',
  title: 'each role killed, frozen and ended with SIGTERM',
  limit_s: { quick: 400, normal: 400, full: 700 },
  async run(scope) {
    const figures = new Figures(CLUSTER);
    const cluster = await startCluster(scope);
    const holdMs = scope.by(12_000, 15_000);
    for (const role of ROLES) {
      const limits = { takeover: TAKEOVER_S, repeated: MOST_REPEATED };
      await row(
        cluster,
        figures,
        `${role} killed`,
        async () => {
          const victim = await victimOf(role, cluster.roles[role]);
          await victim.kill();
          await sleep(holdMs);
          await victim.start();
        },
        limits,
      );
      await row(
        cluster,
        figures,
        `${role} frozen`,
        async () => {
          const victim = await victimOf(role, cluster.roles[role]);
          process.kill(victim.pid!, 'SIGSTOP');
          await sleep(holdMs);
          process.kill(victim.pid!, 'SIGCONT');
        },
        // What the frozen process held arrives again when it wakes up: its requests were under way.
        role === 'ingest' ? {} : { takeover: TAKEOVER_S },
      );
      await row(
        cluster,
        figures,
        `${role} ended with SIGTERM`,
        async () => {
          const victim = await victimOf(role, cluster.roles[role]);
          await victim.terminate();
          await sleep(holdMs);
          await victim.start();
        },
        { takeover: HANDOVER_S, repeated: 0 },
      );
    }
    return figures.verdict;
  },
};
