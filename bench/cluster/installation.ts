/** The installations that are compared: one process on the embedded stores, and processes by role on PostgreSQL and three NATS servers. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, startService } from '../../e2e/harness/service.ts';
import { startNatsCluster, startPostgres } from '../../packages/server/test/servers/index.ts';
import { type BrokerCounts, openBroker } from './broker-counts.ts';

export const TICKS_PER_SECOND = 100;
const ROLES = ['ingest', 'process', 'deliver'] as const;
/** Before the election of a leader no stream can be created. */
const ELECTION_MS = 5_000;
const STEADY_LOOKS = 6;

export interface Installation {
  /** Where events go in. */
  urls: string[];
  service: Service;
  /** Process ids by name. */
  pids: Record<string, number>;
  broker?: { counts(): Promise<BrokerCounts> };
  stop(): Promise<void>;
}

export async function startEmbedded(): Promise<Installation> {
  const service = await startService({ LOG_LEVEL: 'error' }, { servers: false });
  return { urls: [service.url], service, pids: { service: pidOf(service) }, stop: () => service.stop() };
}

/** The brokers flush every write. `each`: processes per role; management has one of its own. */
export async function startCluster(each = 1): Promise<Installation> {
  const nats = await startNatsCluster(3, { config: 'jetstream { sync_interval: always }' });
  const postgres = await startPostgres();
  await sleep(ELECTION_MS);
  // The interval of an installation that sets none: tests have a shorter one.
  const settings = { LOG_LEVEL: 'error', NATS_REPLICAS: '3', CONFIG_RELOAD_INTERVAL: '5s' };
  const service = await startService({ ...settings, ROLES: 'admin' }, { servers: true, natsUrl: nats.url, postgresUrl: postgres.url });
  const pids: Record<string, number> = { admin: pidOf(service) };
  const urls: string[] = [];
  for (const role of ROLES)
    for (let n = 0; n < each; n++) {
      const sibling = await service.sibling({ ROLES: role });
      pids[each === 1 ? role : `${role} ${n}`] = pidOf(sibling);
      if (role === 'ingest') urls.push(sibling.url);
    }
  pids.postgresql = postgres.pid ?? 0;
  for (const [i, node] of nats.nodes.entries()) pids[`nats ${i}`] = node.pid ?? 0;
  await untilSteady(service.url);
  const broker = await openBroker(nats.url);
  const stop = async () => {
    await broker.close();
    await service.stop();
    await Promise.all([nats.stop(), postgres.stop()]);
  };
  return { urls, service, pids, broker, stop };
}

/** The first writes create streams, and their leaders are elected. */
async function untilSteady(url: string): Promise<void> {
  for (let ready = 0; ready < STEADY_LOOKS; await sleep(500)) ready = (await fetch(`${url}/readyz`)).status === 200 ? ready + 1 : 0;
}

function pidOf({ pid }: Service): number {
  if (pid === undefined) throw new Error('the service has ended');
  return pid;
}
/** User and system time of each process and its children, which PostgreSQL does its work in. */
export function ticks(pids: Record<string, number>): Record<string, number> {
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const fields = statOf(pid);
      // Parent (field 4), own time (14, 15), time of children that have ended (16, 17).
      return fields ? [{ pid: Number(pid), parent: Number(fields[1]), ticks: sum(fields.slice(11, 15).map(Number)) }] : [];
    });
  return Object.fromEntries(
    Object.entries(pids).map(([name, root]) => [
      name,
      sum(running.filter(({ pid, parent }) => pid === root || parent === root).map((each) => each.ticks)),
    ]),
  );
}
function statOf(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
  } catch {
    return undefined; // It has just ended.
  }
}
export const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
