/**
 * Detects stalls of the event loop and names the step that ran. `atStep` marks the start of work that could take long. A timer is due every
 * 20 ms, in an idle process every 250 ms until the next step; it is late by the length of a stall. On a busy machine the loop also stalls
 * while it waits for the processor, so a stall is reported with its processor time and the part that was garbage collection.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { CpuSamples } from './cpu-samples.ts';
import type { Logger } from './logger.ts';
import { noteLag } from './loop-lag.ts';
import { loopUtilisation } from './loop-utilisation.ts';

const TICK_MS = 20;
/** In an idle process, where 50 wake-ups a second would be most of its work. A stall outside any step may be missed there. */
const QUIET_TICK_MS = 250;
/** Share of the time in which the event loop of an idle process is busy. */
const QUIET = 0.05;
export const STALL_MS = 50;
/** The metric shows the longest stall of this time. */
const SHOWN_MS = 60_000;
/** Garbage collections that are remembered. */
const MAX_PAUSES = 200;

let step = 'idle';
let detail = '';
let since = 0;
const NONE = { step: '', detail: '', ms: 0 };
let slowest = NONE;
const cpuSamples = new CpuSamples();
/** Makes the next tick of an idle process due soon. */
let wake: ((now: number) => void) | undefined;
let steps = 0;

/** Costs one read of the clock. `what` is a constant (a route, a step); `about` an id. */
export function atStep(what: string, about = ''): void {
  const now = performance.now();
  note(now);
  cpuSamples.note(now);
  steps++;
  wake?.(now);
  step = what;
  detail = about;
  since = now;
}

function note(now: number): void {
  if (now - since > slowest.ms) slowest = { step, detail, ms: now - since };
}

let recent: { at: number; wall: number; cpu: number }[] = [];

/** Longest stall of the last minute in milliseconds: by the clock, and by the processor time of this thread. */
export function longestStall(): { wall: number; cpu: number } {
  const now = performance.now();
  const shown = recent.filter(({ at }) => now - at < SHOWN_MS);
  return { wall: Math.max(0, ...shown.map(({ wall }) => wall)), cpu: Math.max(0, ...shown.map(({ cpu }) => cpu)) };
}

interface Stall {
  from: number;
  to: number;
  cpu_ms: number;
  /** Much system time points to page faults or a slow disk, not to the step. */
  system_ms: number;
  step: string;
  about?: string;
}

export function watchStalls(logger: Pick<Logger, 'warn'>): { stop(): void } {
  let due = performance.now() + TICK_MS;
  let timer = setTimeout(tick, TICK_MS).unref();
  const utilisation = loopUtilisation();
  cpuSamples.take(due, due - TICK_MS);
  since = due;
  const pauses: { at: number; ms: number }[] = [];
  const collections = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) pauses.push({ at: startTime, ms: duration });
    if (pauses.length > MAX_PAUSES) pauses.splice(0, pauses.length - MAX_PAUSES);
  });
  collections.observe({ entryTypes: ['gc'] });
  function report({ from, to, ...stall }: Stall): void {
    let gc_ms = 0;
    for (const { at, ms } of pauses) if (at >= from - TICK_MS && at <= to) gc_ms += ms;
    logger.warn({ stall_ms: Math.round(to - from), ...stall, gc_ms: Math.round(gc_ms) }, 'event loop stalled');
  }
  function tick(): void {
    const now = performance.now();
    const used = cpuSamples.take(due, now);
    const wall = now - due;
    noteLag(wall);
    const cpu = Math.min(wall, (used.user + used.system) / 1_000);
    note(now);
    // An idle process that did not get the processor is the machine's matter, not ours.
    if (wall > STALL_MS && (slowest.step !== 'idle' || cpu > STALL_MS / 2)) {
      const about = slowest.detail === '' ? {} : { about: slowest.detail };
      const system_ms = Math.round(Math.min(wall, used.system / 1_000));
      const stall = { from: due, to: now, cpu_ms: Math.round(cpu), system_ms, step: slowest.step, ...about };
      // The observer hears of garbage collections a turn later.
      setTimeout(() => report(stall), TICK_MS).unref();
    }
    if (wall > TICK_MS) recent = [...recent.filter(({ at }) => now - at < SHOWN_MS), { at: now, wall, cpu }].slice(-500);
    slowest = NONE;
    step = 'idle';
    detail = '';
    since = now;
    const isQuiet = steps === 0 && utilisation() < QUIET;
    steps = 0;
    next(now, isQuiet ? QUIET_TICK_MS : TICK_MS);
    // A tick that is overdue comes now, and measures what delayed it.
    if (!isQuiet) return;
    wake = (at) => {
      if (at >= due) return;
      next(at, TICK_MS);
      // The process slept until now: that was no work of a step.
      slowest = NONE;
    };
  }
  function next(now: number, ms: number): void {
    wake = undefined;
    clearTimeout(timer);
    due = now + ms;
    timer = setTimeout(tick, ms).unref();
  }
  return {
    stop() {
      wake = undefined;
      clearTimeout(timer);
      collections.disconnect();
    },
  };
}
