/**
 * CPU per event of this version beside another one: `node bench/side-by-side.ts <main file of the other> [events per second]`. Both run at the same
 * moment under the same load. What disturbs one disturbs the other, so the ratio means something on a busy machine, too. NAME=value after
 * the rate sets a variable of both, for example ROLES=ingest,admin.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pipelineTo, signIn } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import { type Count, request } from './end-to-end.ts';
import { cpuTicks, TICKS_PER_SECOND } from './idle.ts';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { median } from './result.ts';

const TURNS = 9;
const LOAD: Omit<LoadPlan, 'port'> = { path: '/v1/t', connections: 64, batch: 1, warmupMs: 0, durationMs: 8_000 };
const WARM_UP_MS = 15_000;
const here = (path: string) => join(import.meta.dirname, path);

interface Side {
  service: Service;
  receiver: ChildProcess;
  generator: ChildProcess;
  plan: LoadPlan;
}

async function start(main: string | undefined, env: Record<string, string>): Promise<Side> {
  const program = main === undefined ? {} : { program: resolve(main) };
  const receiver = fork(here('end-to-end/receiver.ts'));
  const generator = fork(here('ingest/load.ts'));
  const [{ port: to }] = (await once(receiver, 'message')) as [{ port: number }];
  const service = await startService({ LOG_LEVEL: 'error', ...env }, program);
  const { key } = await pipelineTo(await signIn(service), `http://127.0.0.1:${to}`, { pipeline: { rate_limit_rps: 1_000_000 } });
  return { service, receiver, generator, plan: { ...LOAD, port: Number(new URL(service.url).port), key } };
}

const [other, rate = '200', ...settings] = process.argv.slice(2);
const env = Object.fromEntries(settings.map((setting) => setting.split('=') as [string, string]));
const sides = [await start(undefined, env), await start(other, env)];
const load = (plan: Partial<LoadPlan>) =>
  Promise.all(sides.map((side) => request<{ result: LoadResult }>(side.generator, { ...side.plan, ...plan })));
const counts = () => Promise.all(sides.map(({ receiver }) => request<Count>(receiver, 'count')));
try {
  await load({ durationMs: WARM_UP_MS });
  const ratios: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    // Deliver the backlog first.
    for (let before = -1, now = 0; now !== before; ) {
      await sleep(1_000);
      before = now;
      now = (await counts()).reduce((sum, { events }) => sum + events, 0);
    }
    await Promise.all(sides.map(({ receiver }) => request(receiver, 'reset')));
    const before = sides.map(({ service }) => cpuTicks(service.pid!));
    const sent = await load({ rate: Number(rate) });
    await sleep(1_000);
    const costs = (await counts()).map(({ events: delivered, p50 }, i) => {
      const events = sent[i]!.result.ok;
      const seconds = (cpuTicks(sides[i]!.service.pid!) - before[i]!) / TICKS_PER_SECOND;
      return { 's per 10,000': (10_000 * seconds) / events, events, delivered, 'p50 ms': p50 };
    });
    const ratio = costs[0]!['s per 10,000'] / costs[1]!['s per 10,000'];
    ratios.push(ratio);
    console.table({ 'this version': costs[0], other: costs[1], ratio: { 's per 10,000': ratio } });
  }
  console.log(`CPU per event, this version ÷ other, median of ${TURNS} turns: ${median(ratios).toFixed(3)}`);
} finally {
  for (const { service, receiver, generator } of sides) {
    receiver.disconnect();
    generator.disconnect();
    await service.stop();
  }
}
