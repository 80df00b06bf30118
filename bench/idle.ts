/** The cost of an idle service: time to ready, private memory and CPU. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startService } from '../e2e/harness/service.ts';
import { atMost, type BenchResult } from './result.ts';

const SETTLE_MS = 5_000;
const WATCH_MS = 10_000;
const TICKS_PER_SECOND = 100;

export async function run(): Promise<BenchResult[]> {
  // The first start creates the stores and fills the compile cache. It is not measured.
  await (await startService()).stop();
  const started = performance.now();
  const service = await startService();
  const readyMs = performance.now() - started;
  try {
    await sleep(SETTLE_MS);
    const memory = rssAnonMb(service.pid!);
    const before = cpuTicks(service.pid!);
    await sleep(WATCH_MS);
    const cpu = (cpuTicks(service.pid!) - before) / TICKS_PER_SECOND / (WATCH_MS / 1_000);
    return [
      atMost('ready after start', readyMs, 'ms', 3_000),
      atMost('idle private memory (RssAnon)', memory, 'MB', 120),
      atMost('idle CPU of one core', cpu * 100, '%', 5),
    ];
  } finally {
    await service.stop();
  }
}

function rssAnonMb(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}
/** User and system time, fields 14 and 15. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
