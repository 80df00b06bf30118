/** CPU per event and latency of acceptance, on both installations at the same rates. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pipelineTo, signIn } from '../../e2e/harness/client.ts';
import type { Count } from '../end-to-end.ts';
import type { LoadPlan, LoadResult } from '../ingest/load.ts';
import { atMost, type BenchResult, figure } from '../result.ts';
import { undisturbed } from '../turns.ts';
import { perEvent } from './broker-counts.ts';
import { type Installation, startCluster, startEmbedded, sum, TICKS_PER_SECOND, ticks } from './installation.ts';
import { startTraffic, type Traffic } from './traffic.ts';

const LOAD: Omit<LoadPlan, 'port' | 'path' | 'batch'> = { connections: 64, warmupMs: 0, durationMs: 6_000 };
/** `most`: CPU of the cluster, as a multiple of embedded. `p99`: milliseconds above embedded. */
const KINDS = [
  { name: 'single events', path: '/v1/t', batch: 1, perSecond: 2_000, most: 3, p99: undefined },
  { name: 'batches of 100', path: '/v1/batch', batch: 100, perSecond: 2_000, most: 2, p99: undefined },
  { name: '500 single events a second', path: '/v1/t', batch: 1, perSecond: 500, most: undefined, p99: 30 },
] as const;

type Kind = (typeof KINDS)[number];
const TURNS = 5;
/** The compilers of six processes need about half a minute of load: in the first six seconds an event costs twice as much. */
const WARM_UP_MS = 30_000;

interface Opened {
  installation: Installation;
  key: string;
}
interface Turn {
  alone: Measured;
  together: Measured;
}
const ratioOf = ({ alone, together }: Turn) => together.total / alone.total;

interface Measured {
  /** Microseconds of CPU per event, by process. */
  cpu: Record<string, number>;
  total: number;
  /** Messages that the broker stored per event, by kind of stream. */
  stored: Record<string, number>;
  accepted: LoadResult;
  count: Count;
}

/** The speed of a virtual machine changes within minutes, so both installations run all the time and are measured in turns. */
export async function measureCost(): Promise<BenchResult[]> {
  const traffic = await startTraffic();
  const started: Installation[] = [];
  try {
    started.push(await startEmbedded());
    started.push(await startCluster());
    const [embedded, cluster] = await Promise.all(started.map((each) => open(each, traffic)));
    if (!embedded || !cluster) throw new Error('both installations are needed');
    await sleep(3_000);
    const results: BenchResult[] = [];
    for (const kind of KINDS) {
      for (const each of [embedded, cluster]) await warmUp(each, kind, traffic);
      const turns: Turn[] = await undisturbed(TURNS, async () => ({
        alone: await measure(embedded, kind, traffic),
        together: await measure(cluster, kind, traffic),
      }));
      results.push(...compare(kind, turns));
    }
    return results;
  } finally {
    for (const each of started) await each.stop();
    traffic.close();
  }
}

/** By process: the turn with the median ratio. Of the times: the median of all turns. */
function compare({ name, most, p99 }: Kind, turns: readonly Turn[]): BenchResult[] {
  const sorted = turns.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) return [];
  const { alone, together } = median;
  const results = [figure(`${name}: embedded, CPU per event`, alone.total, 'µs')];
  for (const [process, micros] of Object.entries(together.cpu)) results.push(figure(`${name}: ${process}`, micros, 'µs'));
  for (const [kind, each] of Object.entries(together.stored)) results.push(figure(`${name}: ${kind} per 100 events`, each * 100, ''));
  const ratio = ratioOf(median);
  results.push(
    most === undefined ? figure(`${name}: cluster ÷ embedded`, ratio, '×') : atMost(`${name}: cluster ÷ embedded`, ratio, '×', most),
  );
  for (const turn of sorted) results.push(figure(`${name}: a turn`, ratioOf(turn), '×'));
  const embeddedP99 = middle(turns.map((turn) => turn.alone.accepted.p99Ms));
  const clusterP99 = middle(turns.map((turn) => turn.together.accepted.p99Ms));
  results.push(figure(`${name}: accept p99, embedded`, embeddedP99, 'ms'));
  results.push(figure(`${name}: accept p99, cluster`, clusterP99, 'ms'));
  if (p99 !== undefined) results.push(atMost(`${name}: accept p99 above embedded`, clusterP99 - embeddedP99, 'ms', p99));
  results.push(figure(`${name}: accept to delivery p50, cluster`, together.count.p50, 'ms'));
  return results;
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

async function open(installation: Installation, traffic: Traffic): Promise<Opened> {
  const client = await signIn(installation.service);
  const { key } = await pipelineTo(client, traffic.target, { pipeline: { rate_limit_rps: 1_000_000 } });
  return { installation, key };
}

function planOf({ installation, key }: Opened, { path, batch, perSecond }: Kind): LoadPlan {
  const port = Number(new URL(installation.urls[0] ?? '').port);
  return { ...LOAD, port, path, batch, key, rate: perSecond / batch };
}

async function warmUp(opened: Opened, kind: Kind, traffic: Traffic): Promise<void> {
  await traffic.load({ ...planOf(opened, kind), durationMs: WARM_UP_MS });
  await traffic.untilDelivered();
}

async function measure(opened: Opened, kind: Kind, traffic: Traffic): Promise<Measured> {
  const { installation } = opened;
  await traffic.ask('reset');
  const counted = await installation.broker?.counts();
  const before = ticks(installation.pids);
  const accepted = await traffic.load(planOf(opened, kind));
  // Up to the last delivery: the wait that proves it was the last is not part of the cost.
  let after = before;
  const count = await traffic.untilDelivered(() => {
    after = ticks(installation.pids);
  });
  const now = await installation.broker?.counts();
  const cpu: Record<string, number> = {};
  for (const [name, ticked] of Object.entries(after)) cpu[name] = ((ticked - (before[name] ?? 0)) / TICKS_PER_SECOND / count.events) * 1e6;
  const stored = counted && now ? perEvent(counted, now, count.events) : {};
  return { cpu, total: sum(Object.values(cpu)), stored, accepted, count };
}
