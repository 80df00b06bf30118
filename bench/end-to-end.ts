/** End-to-end throughput, compared with a bare forwarder that stores nothing, and end-to-end latency at half load. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, pipelineTo, signIn } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { rssAnonMb } from './ingest/memory.ts';
import { atLeast, atMost, type BenchResult, figure, median } from './result.ts';
import { undisturbed } from './turns.ts';

export interface Count {
  requests: number;
  /** Different events. */
  events: number;
  /** Deliveries of an event that had arrived before. */
  repeats: number;
  p50: number;
  p99: number;
}
const here = (path: string) => join(import.meta.dirname, path);
const LOAD: Omit<LoadPlan, 'port'> = { path: '/v1/t', connections: 64, batch: 1, warmupMs: 0, durationMs: 4_000 };
/** Alternates between the programs after a warm-up, because the speed of the machine changes by the minute. Figures are medians. */
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
    const rounds = await undisturbed(ROUNDS, async () => {
      const { rate: bare } = await bareOnce();
      const one = await oneOnce();
      const many = await delivered({ ...LOAD, port: portOf(service), key: batched }, ask, load);
      await ask('reset');
      await load({ ...LOAD, port: portOf(service), key: single, rate: one.rate / 2 });
      await sleep(500);
      return { bare, one, many, latency: await ask('count') };
    });
    const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
    return [
      figure(
        'bare forwarder, delivered',
        of(({ bare }) => bare),
        'events/s',
      ),
      figure(
        'accepted beside unbatched delivery',
        of(({ one }) => one.accepted),
        'events/s',
      ),
      figure(
        'ingest to webhook, one event a request',
        of(({ one }) => one.rate),
        'events/s',
      ),
      atLeast(
        'one a request ÷ bare forwarder',
        of(({ one, bare }) => one.rate / bare),
        '×',
        0.55,
      ),
      figure(
        'durable ingest beside delivery, batched 100',
        of(({ many }) => many.accepted),
        'events/s',
      ),
      figure(
        'ingest to webhook, batched 100',
        of(({ many }) => many.rate),
        'events/s',
      ),
      atLeast(
        'batched ÷ durable ingest in the same run',
        of(({ many }) => many.rate / many.accepted),
        '×',
        0.6,
      ),
      atMost(
        'accept to delivery at half load, p50',
        of(({ latency }) => latency.p50),
        'ms',
        25,
      ),
      atMost(
        'accept to delivery at half load, p99',
        of(({ latency }) => latency.p99),
        'ms',
        150,
      ),
      atMost('accepted and not delivered', Math.max(...rounds.map(({ one }) => one.missing)), 'events', 0),
      atMost('delivered more than once', Math.max(...rounds.map(({ one }) => one.repeats)), 'events', 0),
      figure('private memory after it (RssAnon)', rssAnonMb(service.pid!), 'MB'),
    ];
  } finally {
    for (const child of [receiver, generator, forwarder]) child.disconnect();
    await service.stop();
  }
}

export interface Arrived {
  rate: number;
  accepted: number;
  events: number;
  lastAt: number;
  missing: number;
  repeats: number;
}

/** All accepted events, divided by the time until the last one arrived. */
export async function delivered(
  plan: LoadPlan,
  ask: (message: 'count' | 'reset') => Promise<Count>,
  load: (plan: LoadPlan) => Promise<LoadResult>,
): Promise<Arrived> {
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
  // Requests whose response the generator no longer read may have been accepted, too.
  const missing = Math.max(0, result.ok - last.events);
  return {
    rate: (1_000 * last.events) / (lastAt - started),
    accepted: result.perSecond,
    events: last.events,
    lastAt,
    missing,
    repeats: last.repeats,
  };
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
if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
