/**
 * How much ingest costs over a bare `node:http` server that reads the body and answers 200, both measured in this run.
 * Server and load generator are processes of their own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { atLeast, atMost, type BenchResult, figure } from './result.ts';

const CONNECTIONS = 64;
const BATCH = 100;
const ROUNDS = 3;

export async function run(): Promise<BenchResult[]> {
  const generator = fork(here('./ingest/load.ts'));
  const single = { path: '/v1/t', connections: CONNECTIONS, batch: 1, warmupMs: 1_000, durationMs: 3_000 };
  const bare = await serverOf('bare');
  const ingest = await serverOf('ingest');
  const measure = (server: Server, plan: Omit<LoadPlan, 'port'>) => ask(generator, { ...plan, port: server.port });
  try {
    // In turns, and the best of each: on a shared machine a neighbour's burst must not decide the ratio.
    const bareRates: number[] = [];
    const ingestRates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      bareRates.push((await measure(bare, single)).perSecond);
      ingestRates.push((await measure(ingest, single)).perSecond);
    }
    const bareRate = Math.max(...bareRates);
    const ingestRate = Math.max(...ingestRates);
    const batchPlan = { ...single, path: '/v1/batch', batch: BATCH, connections: 16 };
    const batches = [await measure(ingest, batchPlan), await measure(ingest, batchPlan)];
    const batchRate = Math.max(...batches.map(({ perSecond }) => perSecond)) * BATCH;
    const half = { ...single, rate: ingestRate / 2, durationMs: 4_000 };
    const halfBare = await measure(bare, half);
    const halfIngest = await measure(ingest, half);
    const memory = await ingest.memory();
    const overload = await measure(ingest, { ...single, connections: CONNECTIONS * 30, durationMs: 5_000 });
    return [
      figure('bare node:http', bareRate, 'requests/s'),
      figure('single-event durable ingest', ingestRate, 'events/s'),
      atLeast('ingest ÷ bare', ingestRate / bareRate, '×', 0.5),
      figure(`/v1/batch of ${BATCH}`, batchRate, 'events/s'),
      atLeast('batch ÷ single', batchRate / ingestRate, '×', 3),
      atMost('added p99 at half capacity', halfIngest.p99Ms - halfBare.p99Ms, 'ms', 10),
      atMost('overload: accepted p99', overload.p99Ms, 'ms', 250),
      figure('overload: accepted', overload.perSecond, 'events/s'),
      figure('overload: refused (429, 503)', overload.refused, 'requests'),
      atMost('overload: other answers', overload.failed, 'requests', 0),
      atMost('peak RssAnon under load', memory, 'MB', 200),
      figure(`peak RssAnon with ${CONNECTIONS * 30} connections`, await ingest.memory(), 'MB'),
    ];
  } finally {
    generator.kill();
    await Promise.all([bare.stop(), ingest.stop()]);
  }
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Server {
  port: number;
  memory(): Promise<number>;
  stop(): Promise<void>;
}
async function serverOf(kind: 'bare' | 'ingest'): Promise<Server> {
  // As `npm start` runs the service; the bare server gets the same.
  const child = fork(here('./ingest/server.ts'), [kind], { execArgv: ['--max-semi-space-size=8'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    async memory() {
      child.send('memory');
      const [{ memory }] = (await once(child, 'message')) as [{ memory: number }];
      return memory;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.send('stop');
      await gone;
    },
  };
}
async function ask(child: ChildProcess, plan: LoadPlan): Promise<LoadResult> {
  child.send(plan);
  const [answer] = (await once(child, 'message')) as [{ result?: LoadResult; error?: string }];
  if (answer.result === undefined) throw new Error(answer.error);
  return answer.result;
}

if (import.meta.main) console.table(await run());
