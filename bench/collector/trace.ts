/** What Chromium's trace of one load says about the main thread, from the mark on that the page sets when it adds the script. */

/** Milliseconds by the clock on the wall, and of the processor: much less of these says that somebody was waited for. */
export interface Spent {
  wall: number;
  processor: number;
}
export interface Cost {
  /** Every task, whoever caused it, as the visitor feels it. */
  page: Spent;
  /** Of these, the whole of each in which JavaScript runs after the script was added, and the promises that go on between them. */
  script: Spent;
}

/** The mark. */
export const BEGIN = 'bench-begin';
/**
 * As little as tells what is asked for, because every event that is traced costs time itself. The developer tools' timeline, which
 * knows more of scripts, is dear: it notes a stack with every request and timer.
 */
export const CATEGORIES = ['toplevel', 'blink.user_timing', 'v8'];
const TASK = /RunTask$/;
/** Promises go on after the task that settled them, and are not part of it. */
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
/** Without those inside another one, which would count twice. */
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
  if (!first) throw new Error('The trace knows nothing of the page');
  const counted = tasks.filter(({ ts }) => ts >= first.ts && ts < first.ts + windowMs * 1000);
  const runs = mine.filter((event) => RUNS.test(event.name));
  // The page has come to rest: nobody but the script has anything to run. What runs all the same, the page without it has too.
  const isScripts = (task: TraceEvent) => task.name === MICROTASKS || runs.some((run) => task.ts <= run.ts && endOf(run) <= endOf(task));
  return { page: sum(counted), script: sum(counted.filter((task) => task !== first && isScripts(task))) };
}
