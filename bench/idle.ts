/** The cost of a service that has little to do: time to ready, private memory and CPU without events, and CPU per event at a low rate. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import { pipelineTo, signIn } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import { NODE_FLAGS } from '../e2e/harness/start-command.ts';
import { type Count, request } from './end-to-end.ts';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { rssAnonMb } from './ingest/memory.ts';
import { atMost, type BenchResult, figure, median } from './result.ts';
import { undisturbed } from './turns.ts';

const WATCH_MS = 10_000;
export const TICKS_PER_SECOND = 100;
/** Events per second of a small shop at its best hour. */
const LOW_RATE = 200;
const TURNS = 3;
const LOAD: Omit<LoadPlan, 'port'> = { path: '/v1/t', connections: 64, batch: 1, warmupMs: 0, durationMs: 8_000 };

export async function run(): Promise<BenchResult[]> {
  // The first start fills the compile cache, which Node writes at a regular exit, as `npm install` does. It is not measured.
  const first = await startService();
  await first.terminate();
  await first.stop();
  const started = performance.now();
  const service = await startService();
  const readyMs = performance.now() - started;
  try {
    const { pid } = service;
    if (pid === undefined) throw new Error('the service has ended');
    await sleep(WATCH_MS);
    const memory = rssAnonMb(pid);
    const before = cpuTicks(pid);
    await sleep(WATCH_MS);
    const cpu = (cpuTicks(pid) - before) / TICKS_PER_SECOND / (WATCH_MS / 1_000);
    return [
      figure('vendors in the catalog', VENDOR_KEYS.length, 'vendors'),
      atMost('ready after start', readyMs, 'ms', 2_000),
      atMost('private memory after 10 s', memory, 'MB', 120),
      atMost('idle CPU of one core', cpu * 100, '%', 5),
      ...(await lowRate(service, pid)),
    ];
  } finally {
    await service.stop();
  }
}

/**
 * CPU per event from request to webhook, after a warm-up at full rate: a service that runs for days has compiled its code. In turns with a
 * forwarder that stores nothing.
 */
async function lowRate(service: Service, pid: number): Promise<BenchResult[]> {
  const here = (path: string) => join(import.meta.dirname, path);
  const receiver = fork(here('end-to-end/receiver.ts'));
  const generator = fork(here('ingest/load.ts'));
  const [{ port: receiverPort }] = (await once(receiver, 'message')) as [{ port: number }];
  const forwarder = fork(here('end-to-end/forwarder.ts'), [`http://127.0.0.1:${receiverPort}`], { execArgv: NODE_FLAGS });
  const [{ port: forwarderPort }] = (await once(forwarder, 'message')) as [{ port: number }];
  try {
    const { key } = await pipelineTo(await signIn(service), `http://127.0.0.1:${receiverPort}`, {
      pipeline: { rate_limit_rps: 1_000_000 },
    });
    const load = (to: Measured, rate?: number) =>
      request<{ result: LoadResult }>(generator, { ...LOAD, ...to.plan, ...(rate !== undefined && { rate }) });
    const ask = (message: 'count' | 'reset') => request<Count>(receiver, message);
    const one: Measured = { pid, plan: { port: Number(new URL(service.url).port), key } };
    const bare: Measured = { pid: forwarder.pid!, plan: { port: forwarderPort } };
    for (const measured of [bare, one]) {
      await load(measured);
      // Deliver the backlog of the warm-up first.
      for (let before = -1, now = 0; now !== before; ) {
        await sleep(1_000);
        before = now;
        now = (await ask('count')).events;
      }
    }
    const measure = async (measured: Measured): Promise<Turn> => {
      await ask('reset');
      const before = cpuTicks(measured.pid);
      await load(measured, LOW_RATE);
      await sleep(500);
      const { events, p50, p99 } = await ask('count');
      const seconds = (cpuTicks(measured.pid) - before) / TICKS_PER_SECOND;
      return { secondsPer10k: (seconds / events) * 10_000, p50, p99 };
    };
    const turns = await undisturbed(TURNS, async () => ({ bare: await measure(bare), one: await measure(one) }));
    const of = (pick: (turn: Turn) => number, side: 'bare' | 'one' = 'one') => median(turns.map((turn) => pick(turn[side])));
    return [
      atMost(
        `CPU per 10,000 events at ${LOW_RATE}/s`,
        of(({ secondsPer10k }) => secondsPer10k),
        's',
        6,
      ),
      figure(
        'the same, a bare forwarder',
        of(({ secondsPer10k }) => secondsPer10k, 'bare'),
        's',
      ),
      figure(
        `accept to delivery at ${LOW_RATE}/s, p50`,
        of(({ p50 }) => p50),
        'ms',
      ),
      figure(
        `accept to delivery at ${LOW_RATE}/s, p99`,
        of(({ p99 }) => p99),
        'ms',
      ),
    ];
  } finally {
    for (const child of [receiver, generator, forwarder]) child.disconnect();
  }
}

interface Turn {
  secondsPer10k: number;
  p50: number;
  p99: number;
}
interface Measured {
  pid: number;
  plan: Pick<LoadPlan, 'port' | 'key'>;
}

/** User and system time, fields 14 and 15. */
export function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
