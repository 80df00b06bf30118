/** The machine and what else ran on it: a figure counts only if the hypervisor left the processors to this machine. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { median } from './result.ts';

/** Above this share of stolen processor time the figures of a section are void. */
export const MAX_STEAL_PERCENT = 5;

export interface Conditions {
  /** Share of the processor time that the hypervisor gave to other machines. */
  stealPercent: number;
  /** Share that nobody used. */
  idlePercent: number;
  /** Load average of the last minute, at the beginning and at the end. */
  load: [before: number, after: number];
  void: boolean;
}

/** Call the result at the end of the section. */
export function watchConditions(): () => Conditions {
  const before = processorTimes();
  const [loadBefore = 0] = loadavg();
  return () => {
    const after = processorTimes();
    const all = after.all - before.all;
    const percent = (ticks: number) => (all === 0 ? 0 : (100 * ticks) / all);
    const stealPercent = percent(after.steal - before.steal);
    const [loadAfter = 0] = loadavg();
    return {
      stealPercent,
      idlePercent: percent(after.idle - before.idle),
      load: [loadBefore, loadAfter],
      void: stealPercent > MAX_STEAL_PERCENT,
    };
  };
}

export function describeConditions({ stealPercent, idlePercent, load, void: isVoid }: Conditions): string {
  const text = `steal ${stealPercent.toFixed(1)} %, idle ${idlePercent.toFixed(0)} %, load ${load[0].toFixed(1)} before, ${load[1].toFixed(1)} after`;
  return isVoid ? `VOID: ${text}. Above ${MAX_STEAL_PERCENT} % steal, only the figures of turns that were repeated count.` : text;
}

export function describeMachine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, ${memory}, Linux ${release()}, Node ${process.version}, flush of 64 KB ${flushMs().toFixed(2)} ms`;
}

/** Median time to write 64 KB and flush it to the disk of the temporary directory, where the benchmarks keep their data. */
function flushMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-flush-'));
  const file = openSync(join(folder, 'data'), 'w');
  try {
    const bytes = Buffer.alloc(65_536, 1);
    return median(
      Array.from({ length: 50 }, (_, i) => {
        const started = performance.now();
        writeSync(file, bytes, 0, bytes.length, i * bytes.length);
        fdatasyncSync(file);
        return performance.now() - started;
      }),
    );
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
function processorTimes(): { all: number; idle: number; steal: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((a, b) => a + b, 0), idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), steal: ticks[7] ?? 0 };
}
