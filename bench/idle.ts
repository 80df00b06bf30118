/** The cost of an idle service: time to ready, private memory and CPU. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import { startService } from '../e2e/harness/service.ts';
import { atMost, type BenchResult, figure } from './result.ts';

const WATCH_MS = 10_000;
const TICKS_PER_SECOND = 100;

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
    const memory = privateMb(pid);
    const before = cpuTicks(pid);
    await sleep(WATCH_MS);
    const cpu = (cpuTicks(pid) - before) / TICKS_PER_SECOND / (WATCH_MS / 1_000);
    return [
      figure('vendors in the catalog', VENDOR_KEYS.length, 'vendors'),
      atMost('ready after start', readyMs, 'ms', 2_000),
      atMost('private memory after 10 s', memory, 'MB', 120),
      atMost('idle CPU of one core', cpu * 100, '%', 5),
    ];
  } finally {
    await service.stop();
  }
}

/** Pages that no other process shares: what stopping the service would free. */
function privateMb(pid: number): number {
  const sizes = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm);
  return [...sizes].reduce((sum, [, kb]) => sum + Number(kb), 0) / 1_024;
}
/** User and system time, fields 14 and 15. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
