/**
 * Cooperative scheduling of background work. A turn is one pass of the event loop; background work may use 5 ms of it (its slice), all of it
 * together. Work is divided into steps and calls `next()` between them. During the slice `next()` returns at once; afterwards the work
 * continues in a later turn, when sockets and timers were served. Within a slice, waiting work takes over every millisecond, so nobody waits
 * for a whole slice of everybody else.
 *
 * Bulk work (large events and batches, configurations) calls `bulk()`. Other work goes first, but one turn in four is for waiting bulk work:
 * large events of one organisation do not delay everybody's small ones, and are not starved by them either.
 *
 * A step that cannot be divided (parsing 1 MB takes up to 30 ms) calls `tookLong()` at its end. All other work then waits until the loop has
 * served sockets and timers, so that two such steps never share a turn. The same holds after a slice that lasted twice as long as planned.
 */
import type { Steps } from '@firsthand/core/steps.ts';

const SLICE_MS = 5;
const QUANTUM_MS = 1;
const BULK_EVERY = 4;
/** An event above this size takes a turn of its own to be parsed or mapped: call `tookLong` after it. */
export const VERY_LARGE_BYTES = 131_072;

export interface Turns {
  /** Undefined while the slice lasts: the common case costs no promise. */
  next(): Promise<void> | undefined;
  bulk(): Promise<void> | undefined;
  /** Ends the slice of this turn. */
  tookLong(): void;
}

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting: (() => void)[] = [];
  const bulkWaiting: (() => void)[] = [];
  let passedOver = 0;
  let open = false;
  let sliceEnds = 0;
  let quantumEnds = 0;
  let skipsPhase = false;

  function begin(): void {
    open = true;
    const at = now();
    sliceEnds = at + SLICE_MS;
    quantumEnds = at + QUANTUM_MS;
    setImmediate(end);
  }
  function end(): void {
    if (skipsPhase) {
      // Immediates of this phase run before sockets are served, those of the next one after it.
      skipsPhase = false;
      setImmediate(end);
      return;
    }
    open = false;
    const first = chooseWaiter();
    if (first === undefined) return;
    begin();
    first();
  }
  function chooseWaiter(): (() => void) | undefined {
    if (bulkWaiting.length > 0 && (waiting.length === 0 || ++passedOver >= BULK_EVERY)) {
      passedOver = 0;
      return bulkWaiting.shift();
    }
    return waiting.shift();
  }
  function wait(queue: (() => void)[]): Promise<void> | undefined {
    if (!open) begin();
    const at = now();
    if (at < quantumEnds) return undefined;
    let next: (() => void) | undefined;
    if (at < sliceEnds) {
      quantumEnds = at + QUANTUM_MS;
      next = chooseWaiter();
      if (next === undefined) return undefined;
    } else if (at >= sliceEnds + SLICE_MS) {
      // A step took longer than it should. It may have run while sockets were served, and the next slice comes right after these.
      skipsPhase = true;
    }
    const turn = new Promise<void>((resolve) => queue.push(resolve));
    next?.();
    return turn;
  }
  function tookLong(): void {
    if (!open) begin();
    sliceEnds = Number.NEGATIVE_INFINITY;
    quantumEnds = Number.NEGATIVE_INFINITY;
    skipsPhase = true;
  }
  return { next: () => wait(waiting), bulk: () => wait(bulkWaiting), tookLong };
}

/** One for the whole process: the event loop is one too. */
export const turns = createTurns();

/** Runs one step of bulk work in a turn of the event loop. `bytes`: how much data it works on. */
export async function inBulkTurn<T>(bytes: number, work: () => T): Promise<T> {
  const turn = turns.bulk();
  if (turn !== undefined) await turn;
  const result = work();
  if (bytes > VERY_LARGE_BYTES) turns.tookLong();
  return result;
}

/** Runs divided work to its end, and lets the event loop turn between its steps. */
export async function finishInTurns<T>(steps: Steps<T>): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await turns.bulk();
  }
}

/** After a step that took long: waits for another turn. */
export async function endLongTurn(): Promise<void> {
  turns.tookLong();
  await turns.bulk();
}

/** Divided work of which every step may take long: each has a turn of its own. `begin` is called before each. */
export async function finishInLongTurns<T>(steps: Steps<T>, begin?: () => void): Promise<T> {
  for (;;) {
    begin?.();
    const step = steps.next();
    turns.tookLong();
    if (step.done) return step.value;
    await turns.bulk();
  }
}

/** Calls of `work` that run at the same time: on JetStream each may be a request. */
const AT_ONCE = 50;

/** `Promise.all` over a list of any length, with turns of the event loop in between. */
export async function inTurns<T, U>(items: Iterable<T>, work: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  const waiting: Promise<U>[] = [];
  for (const item of items) {
    await turns.bulk();
    waiting.push(work(item));
    if (waiting.length === AT_ONCE) results.push(...(await Promise.all(waiting.splice(0))));
  }
  results.push(...(await Promise.all(waiting)));
  return results;
}
