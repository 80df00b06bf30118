/**
 * Cooperative scheduling of background work. A turn is one pass of the event loop; background work may use 5 ms of it (its slice), all of it
 * together. Work is divided into steps and calls `next()` between them. During the slice `next()` returns at once; afterwards the work
 * continues in a later turn, when sockets and timers were served. Within a slice, waiting work takes over every millisecond, so nobody waits
 * for a whole slice of everybody else.
 *
 * Organisations: `next(orgId)` counts the steps of each. While several have work, the slice of a busy one ends after 2 ms; the rest of the 5 ms
 * is for organisations with few steps, which do not wait for a turn. Busy organisations take turns, however many parts their work has.
 *
 * Bulk work (large events and batches, configurations) calls `bulk()`. Other work goes first, but one turn in four is for waiting bulk work:
 * large events of one organisation do not delay everybody's small ones, and are not starved by them either.
 *
 * A step that cannot be divided (parsing 1 MB takes up to 30 ms) calls `tookLong()` at its end. All other work then waits until the loop has
 * served sockets and timers, so that two such steps never share a turn. The same holds after a slice that lasted twice as long as planned.
 */
import type { Steps } from '@firsthand/core/steps.ts';
import { RoundRobin } from './round-robin.ts';

const SLICE_MS = 5;
/** The slice of a busy organisation while others have work, too. */
const SHARED_SLICE_MS = 2;
/** An organisation with at most this many steps in the last window and this one is not busy. An event takes three. */
const FEW_STEPS = 64;
const WINDOW_MS = 100;
const QUANTUM_MS = 1;
const BULK_EVERY = 4;
/** An event above this size takes a turn of its own to be parsed or mapped: call `tookLong` after it. */
export const VERY_LARGE_BYTES = 131_072;

export interface Turns {
  /** Undefined while the slice lasts: the common case costs no promise. `orgId`: whose work it is. */
  next(orgId?: string): Promise<void> | undefined;
  bulk(): Promise<void> | undefined;
  /** Ends the slice of this turn. */
  tookLong(): void;
}

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting = new RoundRobin<() => void>();
  const fewWaiting: (() => void)[] = [];
  const bulkWaiting: (() => void)[] = [];
  const steps = new StepCounts();
  let passedOver = 0;
  let open = false;
  let sliceBegan = 0;
  let quantumEnds = 0;
  let skipsPhase = false;

  function begin(): void {
    open = true;
    sliceBegan = now();
    quantumEnds = sliceBegan + QUANTUM_MS;
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
    const others = fewWaiting.length + waiting.size;
    if (bulkWaiting.length > 0 && (others === 0 || ++passedOver >= BULK_EVERY)) {
      passedOver = 0;
      return bulkWaiting.shift();
    }
    return fewWaiting.shift() ?? waiting.next();
  }
  function wait(at: number, sliceMs: number, enqueue: (resolve: () => void) => void): Promise<void> | undefined {
    if (at < quantumEnds) return undefined;
    let next: (() => void) | undefined;
    if (at < sliceBegan + sliceMs) {
      quantumEnds = at + QUANTUM_MS;
      next = chooseWaiter();
      if (next === undefined) return undefined;
    } else if (at >= sliceBegan + 2 * SLICE_MS) {
      // A step took longer than it should. It may have run while sockets were served, and the next slice comes right after these.
      skipsPhase = true;
    }
    const turn = new Promise<void>(enqueue);
    next?.();
    return turn;
  }
  function next(orgId?: string): Promise<void> | undefined {
    if (!open) begin();
    const at = now();
    if (orgId === undefined) return wait(at, SLICE_MS, (resolve) => waiting.push('', resolve));
    const count = steps.add(orgId, at);
    const isShared = steps.areShared(orgId);
    if (!isShared || count > FEW_STEPS) return wait(at, isShared ? SHARED_SLICE_MS : SLICE_MS, (resolve) => waiting.push(orgId, resolve));
    if (at < sliceBegan + SLICE_MS) return undefined;
    return wait(at, SLICE_MS, (resolve) => fewWaiting.push(resolve));
  }
  function bulk(): Promise<void> | undefined {
    if (!open) begin();
    return wait(now(), SLICE_MS, (resolve) => bulkWaiting.push(resolve));
  }
  function tookLong(): void {
    if (!open) begin();
    sliceBegan = Number.NEGATIVE_INFINITY;
    quantumEnds = Number.NEGATIVE_INFINITY;
    skipsPhase = true;
  }
  return { next, bulk, tookLong };
}

/** Steps of each organisation in the last window and in this one. */
class StepCounts {
  #last = new Map<string, number>();
  #current = new Map<string, number>();
  #ends = 0;

  /** Counts a step. Returns the organisation's number of steps. */
  add(orgId: string, at: number): number {
    if (at >= this.#ends) {
      const empty = this.#last;
      empty.clear();
      this.#last = at < this.#ends + WINDOW_MS ? this.#current : empty;
      this.#current = this.#last === empty ? new Map() : empty;
      this.#ends = at + WINDOW_MS;
    }
    const count = (this.#current.get(orgId) ?? 0) + 1;
    this.#current.set(orgId, count);
    return count + (this.#last.get(orgId) ?? 0);
  }
  /** Whether other organisations have steps, too. Call after `add`. */
  areShared(orgId: string): boolean {
    return this.#current.size > 1 || this.#last.size > (this.#last.has(orgId) ? 1 : 0);
  }
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
