/** Three brokers, PostgreSQL, and two processes of each role that handles events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { startNatsCluster, type TestServer } from '../../../packages/server/test/servers/index.ts';
import { type Client, until } from '../../harness/client.ts';
import type { Receiver } from '../../harness/receiver.ts';
import type { Service } from '../../harness/service.ts';
import type { Figures } from './fault.ts';
import type { Scope } from './scope.ts';
import { arrivalsOf, startVisitors, type Visitors } from './visitors.ts';

export const CLUSTER = 'PostgreSQL + 3 NATS, 6 processes';
export type EventRole = 'ingest' | 'process' | 'deliver';

export interface Cluster {
  nodes: TestServer[];
  natsUrl: string;
  /** Two of each role. The first with ingest also has the admin role. */
  roles: Record<EventRole, [Service, Service]>;
  receiver: Receiver;
  key: string;
  client: Client;
}

export async function startCluster(scope: Scope, env: Record<string, string> = {}): Promise<Cluster> {
  const nats = await startNatsCluster(3);
  scope.defer(() => nats.stop());
  // Before the election of a leader no stream can be created.
  await sleep(5_000);
  const settings = { NATS_REPLICAS: '3', LOG_LEVEL: 'info', ...env };
  const first = await scope.service({ ...settings, ROLES: 'admin,ingest' }, { servers: true, natsUrl: nats.url });
  const sibling = async (ROLES: string) => scope.keep(await first.sibling({ ...settings, ROLES }));
  const roles: Cluster['roles'] = {
    ingest: [first, await sibling('ingest')],
    process: [await sibling('process'), await sibling('process')],
    deliver: [await sibling('deliver'), await sibling('deliver')],
  };
  const receiver = await scope.receiver();
  const { key, client } = await scope.pipeline(first, receiver.url);
  const cluster = { nodes: nats.nodes, natsUrl: nats.url, roles, receiver, key, client };
  const warm = startVisitors({ ...planOf(cluster), prefix: 'warm', visitors: 4 });
  await until('the first delivery', () => receiver.requests.length > 0, 60_000);
  await warm.stop();
  return cluster;
}
export function planOf({ roles, key }: Pick<Cluster, 'roles' | 'key'>) {
  return { urls: roles.ingest.map(({ url }) => url), key, visitors: 20, pauseMs: 200 };
}

export interface RowLimits {
  /** Seconds; undefined: reported, not judged. */
  takeover?: number;
  repeated?: number;
}
/**
 * One row of the table: traffic, the fault, traffic again. The takeover time is the longest that an accepted event took to arrive, so it
 * counts from the fault for events that a dead process held.
 */
export async function row(
  cluster: Cluster,
  figures: Figures,
  name: string,
  fault: (visitors: Visitors) => Promise<unknown>,
  limits: RowLimits = {},
): Promise<void> {
  const logged = allServices(cluster).map((service) => service.output().length);
  const visitors = startVisitors({ ...planOf(cluster), prefix: name.replaceAll(/\W+/g, '-') });
  await until('traffic', () => visitors.accepted.size > 20, 60_000);
  await fault(visitors);
  await sleep(3_000);
  await visitors.stop();
  const { lost, repeated, outOfOrder, slowestMs } = await arrivalsOf(cluster.receiver, visitors, 60_000);
  figures.tell(`${name}: accepted`, visitors.accepted.size);
  figures.equal(`${name}: lost`, lost, 0);
  if (limits.repeated === undefined) figures.tell(`${name}: repeated`, repeated);
  else figures.atMost(`${name}: repeated`, repeated, limits.repeated);
  figures.equal(`${name}: out of order`, outOfOrder, 0);
  if (limits.takeover === undefined) figures.tell(`${name}: slowest accepted event`, slowestMs / 1_000, 's');
  else figures.atMost(`${name}: takeover`, slowestMs / 1_000, limits.takeover, 's');
  const strange = [...visitors.statuses.keys()].filter((status) => status !== 200 && status !== 503 && status !== 'no answer');
  figures.equal(`${name}: answers other than 200 and 503`, strange.join(', '), '');
  const lines = allServices(cluster).map((service, n) => outageLines(service.output().slice(logged[n])));
  figures.atMost(`${name}: log lines about an outage, most of one process and fault in a minute`, Math.max(...lines), 1);
}

const allServices = ({ roles }: Cluster) => Object.values(roles).flat();

interface LogLine {
  time: string;
  msg: string;
  outage?: string;
  err?: { type: string; code?: unknown };
  integration_id?: string;
}
/** Warnings that tell nothing about a store. Every other one counts, also a line that bypasses the logger's limit. */
const OF_ANOTHER_KIND = new Set(['event loop stalled']);

/** The most warnings and errors about one fault within a minute: one unavailable store, or else one message, error and integration. */
function outageLines(output: string): number {
  const times = new Map<string, number[]>();
  for (const line of output.split('\n')) {
    if (!line.startsWith('{"level":"warn"') && !line.startsWith('{"level":"error"')) continue;
    const { outage, time, msg, err, integration_id } = JSON.parse(line) as LogLine;
    if (OF_ANOTHER_KIND.has(msg)) continue;
    const fault = outage ?? JSON.stringify([msg, err?.code ?? err?.type, integration_id]);
    times.set(fault, [...(times.get(fault) ?? []), Date.parse(time)]);
  }
  let most = 0;
  for (const all of times.values())
    for (const at of all) most = Math.max(most, all.filter((other) => other >= at && other < at + 59_000).length);
  return most;
}

/** The broker that leads most streams. */
export async function leadingNode({ nodes, natsUrl }: Cluster): Promise<TestServer> {
  const connection = await connect({ servers: natsUrl.split(',') });
  try {
    const reply = await connection.request('$JS.API.STREAM.LIST', '{}', { timeout: 5_000 });
    const { streams = [] } = JSON.parse(reply.string()) as { streams?: { cluster?: { leader?: string } }[] };
    const led = nodes.map((_, n) => streams.filter(({ cluster }) => cluster?.leader === `node-${n}`).length);
    return nodes[led.indexOf(Math.max(...led))]!;
  } finally {
    await connection.close();
  }
}
