/** End-to-end throughput, compared with a bare forwarder that stores nothing, and end-to-end latency at half load. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, pipelineTo, signIn } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { atLeast, atMost, type BenchResult, figure } from './result.ts';

export interface Count {
  requests: number;
  events: number;
  p50: number;
  p99: number;
}
const here = (path: string) => join(import.meta.dirname, path);
const LOAD: Omit<LoadPlan, 'port'> = { path: '/v1/t', connections: 64, batch: 1, warmupMs: 0, durationMs: 4_000 };
/** Alternates between both programs after a warm-up, because the speed of the machine changes by the minute. */
const ROUNDS = 5;

export async function run(): Promise<BenchResult[]> {
  const receiver = fork(here('end-to-end/receiver.ts'));
  const generator = fork(here('ingest/load.ts'));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const target = `http://127.0.0.1:${port}`;
  const forwarder = fork(here('end-to-end/forwarder.ts'), [target]);
  const [{ port: forwarderPort }] = (await once(forwarder, 'message')) as [{ port: number }];
  const service = await startService({ LOG_LEVEL: 'error' });
  try {
    const client = await signIn(service);
    const ask = (message: 'count' | 'reset') => request<Count>(receiver, message);
    const load = async (plan: LoadPlan) => (await request<{ result: LoadResult }>(generator, plan)).result;
    const single = await keyOf(client, target, {});
    const batched = await keyOf(client, target, { batch_enabled: true, batch_size: 100, batch_interval_ms: 50 });
    const bareOnce = () => delivered({ ...LOAD, port: forwarderPort }, ask, load);
    const oneOnce = () => delivered({ ...LOAD, port: portOf(service), key: single }, ask, load);

    await bareOnce();
    await oneOnce();
    const rounds: { bare: number; one: number; ratio: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { rate: bare } = await bareOnce();
      const { rate: one } = await oneOnce();
      rounds.push({ bare, one, ratio: one / bare });
    }
    const middle = rounds.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]!;
    const many = await delivered({ ...LOAD, port: portOf(service), key: batched }, ask, load);
    await ask('reset');
    await load({ ...LOAD, port: portOf(service), key: single, rate: middle.one / 2, durationMs: 8_000 });
    await sleep(500);
    const latency = await ask('count');
    return [
      figure('bare forwarder, delivered', middle.bare, 'events/s'),
      figure('ingest to webhook, one event a request', middle.one, 'events/s'),
      atLeast(`one a request ÷ bare forwarder, middle of ${ROUNDS} rounds`, middle.ratio, '×', 0.35),
      figure('durable ingest beside delivery, batched 100', many.accepted, 'events/s'),
      figure('ingest to webhook, batched 100', many.rate, 'events/s'),
      atLeast('batched ÷ durable ingest in the same run', many.rate / many.accepted, '×', 0.6),
      atMost('accept to delivery at half load, p50', latency.p50, 'ms', 25),
      atMost('accept to delivery at half load, p99', latency.p99, 'ms', 150),
      figure('private memory after it (RssAnon)', rssAnonMb(service.pid!), 'MB'),
    ];
  } finally {
    for (const child of [receiver, generator, forwarder]) child.disconnect();
    await service.stop();
  }
}

/** All accepted events, divided by the time until the last one arrived. */
export async function delivered(
  plan: LoadPlan,
  ask: (message: 'count' | 'reset') => Promise<Count>,
  load: (plan: LoadPlan) => Promise<LoadResult>,
): Promise<{ rate: number; accepted: number; lastAt: number }> {
  await ask('reset');
  const started = performance.now();
  const result = await load(plan);
  let last = await ask('count');
  let lastAt = performance.now();
  for (let still = 0; still < 12; ) {
    await sleep(50);
    const now = await ask('count');
    if (now.events === last.events) still++;
    else {
      still = 0;
      lastAt = performance.now();
    }
    last = now;
  }
  return { rate: (1_000 * last.events) / (lastAt - started), accepted: result.perSecond, lastAt };
}

async function keyOf(client: Client, url: string, config: Record<string, unknown>): Promise<string> {
  return (await pipelineTo(client, url, { pipeline: { rate_limit_rps: 1_000_000 }, config })).key;
}
export async function request<T>(child: ChildProcess, message: string | LoadPlan): Promise<T> {
  const answer = once(child, 'message');
  child.send(message);
  return ((await answer) as [T])[0];
}
function portOf(service: Service): number {
  return Number(new URL(service.url).port);
}
function rssAnonMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+)/.exec(status)![1]) / 1_024;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
