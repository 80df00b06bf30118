/** What Chromium's trace of one load says about the main thread, from the mark on that the page sets when it adds the script. */

export interface Spent {
  /** Milliseconds by the clock on the wall, and of the processor: much less of these says that the machine was busy. */
  wall: number;
  processor: number;
}

/**
 * `page`: every task, whoever caused it, as the visitor feels it. `script`: the part of it that is done in the name of the file, as
 * Lighthouse and the developer tools assign time to scripts: compiling and running it, and its callbacks with what they call.
 */
export type Share = 'page' | 'script';

/** The mark. */
export const BEGIN = 'bench-begin';
/**
 * As little as tells what is asked for, because every event that is traced costs time itself. The timeline, which knows scripts,
 * is dear: it notes a stack with every request and timer, and for that a new process has to read functions a second time.
 */
export const CATEGORIES: Record<Share, string[]> = {
  page: ['toplevel', 'blink.user_timing'],
  script: ['toplevel', 'blink.user_timing', 'devtools.timeline'],
};
const TASK = /RunTask$/;
/** Promises go on after the task that settled them, and are not part of it. */
const MICROTASKS = 'BlinkScheduler_PerformMicrotaskCheckpoint';
const OF_A_FILE = /^(EvaluateScript|FunctionCall|v8\.compile)$/;
/** What the browser does around a call, microtasks behind it included. */
const AROUND_A_CALL = /^(TimerFire|EventDispatch|FireIdleCallback|FireAnimationFrame|XHR\w+)$/;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  tdur?: number;
  args: { data?: { url?: string }; fileName?: string };
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

export interface Question {
  share: Share;
  /** The script's address; none for a page without it. */
  file?: string;
  windowMs: number;
}

export function spentIn(trace: Buffer, { share, file, windowMs }: Question): Spent {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const mark = traceEvents.find((event) => event.name === BEGIN);
  const mine = traceEvents.filter((event) => event.ph === 'X' && event.pid === mark?.pid && event.tid === mark.tid);
  const tasks = outermost(mine.filter((event) => TASK.test(event.name) || event.name === MICROTASKS));
  const first = tasks.find((task) => task.ts <= mark!.ts && mark!.ts <= endOf(task))?.ts;
  if (first === undefined) throw new Error('The trace knows nothing of the page');
  const isCounted = (event: TraceEvent) => event.ts >= first && event.ts < first + windowMs * 1000;
  const counted = tasks.filter(isCounted);
  if (share === 'page') return sum(counted);

  const named = mine.filter(
    ({ name, args }) => OF_A_FILE.test(name) && file !== undefined && [args.data?.url, args.fileName].includes(file),
  );
  const around = mine.filter(
    (event) => AROUND_A_CALL.test(event.name) && named.some((one) => event.ts <= one.ts && endOf(one) <= endOf(event)),
  );
  // Whose promises went on the trace does not say; those of the page without the script are taken off by the caller.
  const microtasks = counted.filter((event) => event.name === MICROTASKS);
  return sum(outermost([...named, ...around, ...microtasks].filter(isCounted)));
}
