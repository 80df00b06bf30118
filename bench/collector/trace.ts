/** Reads the main-thread time of one load from Chromium's trace, starting at the mark that the page sets when it adds the script. */

/** Milliseconds of elapsed time and of CPU time. Much less CPU time means that the task waited. */
export interface Spent {
  wall: number;
  processor: number;
}
export interface Cost {
  /** Every task, whatever caused it. */
  page: Spent;
  /** Of these, the tasks in which JavaScript runs after the script was added, and microtasks. */
  script: Spent;
}

/** Name of the mark. */
export const BEGIN = 'bench-begin';
/**
 * As few categories as possible, because every traced event costs time. The developer tools' timeline has more details but records a
 * stack for every request and timer.
 */
export const CATEGORIES = ['toplevel', 'blink.user_timing', 'v8'];
const TASK = /RunTask$/;
/** Microtasks run after the task that queued them and are not part of it. */
const MICROTASKS = 'BlinkScheduler_PerformMicrotaskCheckpoint';
const RUNS = /^v8\.(compile|run|callFunction)$/;

export interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  tdur?: number;
}

const endOf = (event: TraceEvent) => event.ts + event.dur!;
/** Without nested ones, which would count twice. */
function outermost(events: TraceEvent[]): TraceEvent[] {
  let end = 0;
  return events
    .toSorted((a, b) => a.ts - b.ts || b.dur! - a.dur!)
    .filter((event) => {
      if (event.ts < end) return false;
      end = endOf(event);
      return true;
    });
}
function sum(events: TraceEvent[]): Spent {
  const of = (field: 'dur' | 'tdur') => events.reduce((total, event) => total + (event[field] ?? 0), 0) / 1000;
  return { wall: of('dur'), processor: of('tdur') };
}

export function costIn(events: TraceEvent[], windowMs: number): Cost {
  const mark = events.find((event) => event.name === BEGIN);
  const mine = events.filter((event) => event.ph === 'X' && event.pid === mark?.pid && event.tid === mark.tid);
  const tasks = outermost(mine.filter((event) => TASK.test(event.name) || event.name === MICROTASKS));
  const first = tasks.find((task) => task.ts <= mark!.ts && mark!.ts <= endOf(task));
  if (!first) throw new Error('The trace does not contain the mark of the page');
  const counted = tasks.filter(({ ts }) => ts >= first.ts && ts < first.ts + windowMs * 1000);
  const runs = mine.filter((event) => RUNS.test(event.name));
  // The page is idle, so only the script runs. Anything else also runs in the page without it.
  const isScripts = (task: TraceEvent) => task.name === MICROTASKS || runs.some((run) => task.ts <= run.ts && endOf(run) <= endOf(task));
  return { page: sum(counted), script: sum(counted.filter((task) => task !== first && isScripts(task))) };
}
