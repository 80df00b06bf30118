/**
 * The cost of traces and statistics: end-to-end throughput of a service that records them and of one that does not, in alternating rounds.
 * Both write outcomes to the log; only the recorder differs. A recorder that falls behind would hide its cost in the rate, so CPU time is
 * counted until the last trace is written, and that delay is measured too.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs } from '../e2e/faults/kit/measure.ts';
import { type Client, pipelineTo, signIn } from '../e2e/harness/client.ts';
import { OWNER } from '../e2e/harness/service.ts';
import { NODE_FLAGS } from '../e2e/harness/start-command.ts';
import { freePort } from '../packages/server/test/servers/index.ts';
import { type Count, delivered, request } from './end-to-end.ts';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { atLeast, atMost, type BenchResult, figure } from './result.ts';
import { undisturbed } from './turns.ts';

const ROUNDS = 3;
const LOAD: Omit<LoadPlan, 'port'> = { path: '/v1/t', connections: 64, batch: 1, warmupMs: 500, durationMs: 4_000 };
const here = (path: string) => join(import.meta.dirname, path);

export async function run(): Promise<BenchResult[]> {
  const receiver = fork(here('end-to-end/receiver.ts'));
  const generator = fork(here('ingest/load.ts'));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const target = `http://127.0.0.1:${port}`;
  const traced = await start('traced', target);
  const untraced = await start('untraced', target);
  try {
    const ask = (message: 'count' | 'reset') => request<Count>(receiver, message);
    const load = async (plan: LoadPlan) => (await request<{ result: LoadResult }>(generator, plan)).result;
    const measure = async (side: Side): Promise<Round> => {
      const before = cpuMs(side.pid);
      const { rate, events, lastAt } = await delivered({ ...LOAD, ...side.plan }, ask, load);
      const lateMs = Math.max(0, (await side.recorded()) - lastAt);
      return { rate, cpuUs: (1_000 * (cpuMs(side.pid) - before)) / events, lateMs };
    };
    const rounds = await undisturbed(ROUNDS, async () => ({ untraced: await measure(untraced), traced: await measure(traced) }));
    const middle = (side: 'traced' | 'untraced', what: keyof Round) => median(rounds.map((round) => round[side][what]));
    const [without, withTrace] = [middle('untraced', 'rate'), middle('traced', 'rate')];
    const [cpuWithout, cpuWithTrace] = [middle('untraced', 'cpuUs'), middle('traced', 'cpuUs')];
    return [
      figure('CPU per event, nothing recorded', cpuWithout, 'µs'),
      figure('CPU per event, traces and statistics recorded', cpuWithTrace, 'µs'),
      figure('share of recording in it', (100 * (cpuWithTrace - cpuWithout)) / cpuWithTrace, '%'),
      figure('ingest to webhook, nothing recorded', without, 'events/s'),
      figure('ingest to webhook, traces and statistics recorded', withTrace, 'events/s'),
      atLeast('recorded ÷ not recorded', withTrace / without, '×', 0.85),
      atMost('the last trace stands after the last delivery by', middle('traced', 'lateMs'), 'ms', 2_000),
    ];
  } finally {
    for (const child of [receiver, generator]) child.disconnect();
    await Promise.all([traced.stop(), untraced.stop()]);
  }
}

interface Round {
  rate: number;
  /** Of the service, all threads. */
  cpuUs: number;
  lateMs: number;
}
interface Side {
  pid: number;
  plan: { port: number; key: string };
  /** Waits until every received event has its trace. Returns that time. */
  recorded(): Promise<number>;
  stop(): Promise<void>;
}

async function start(kind: 'traced' | 'untraced', target: string): Promise<Side> {
  const port = await freePort();
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-bench-'));
  const child = fork(here('trace-cost/server.ts'), [kind], {
    execArgv: NODE_FLAGS,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      OWNER_EMAIL: OWNER.email,
      OWNER_PASSWORD: OWNER.password,
      ADMIN_RATE_LIMIT: '100000',
      LOG_LEVEL: 'error',
    },
  });
  await once(child, 'message');
  const client = await signIn({ url: `http://127.0.0.1:${port}` });
  const { pipeline, integration, key } = await pipelineTo(client, target, { pipeline: { rate_limit_rps: 1_000_000 } });
  return {
    pid: child.pid ?? 0,
    plan: { port, key },
    recorded: () => recorded(client, pipeline.id, integration.id),
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Counters and traces are written in one transaction: when the counters agree and no longer change, everything is written. */
async function recorded(client: Client, pipelineId: string, integrationId: string): Promise<number> {
  let at = performance.now();
  for (let last = -1, still = 0; still < 20; ) {
    const { totals } = await client.get(`/stats?pipeline_id=${pipelineId}&integration_id=${integrationId}`);
    const settled = totals.delivered === totals.received;
    if (settled && totals.delivered === last) still++;
    else {
      still = 0;
      last = totals.delivered;
      at = performance.now();
    }
    await sleep(50);
  }
  return at;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

if (import.meta.main) console.table(await run());
