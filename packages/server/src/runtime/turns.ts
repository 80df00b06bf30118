/**
 * Slices of the event loop, shared by all background work of the process. Work calls `next()` between its steps. While the
 * slice of this turn lasts there is nothing to wait for; after that the work continues in a later turn, when sockets and
 * timers were served. Each turn resumes one waiter, so that many together hold the loop no longer than one.
 */
const SLICE_MS = 8;

export interface Turns {
  /** Undefined while the slice lasts: the common case costs no promise. */
  next(): Promise<void> | undefined;
}

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting: (() => void)[] = [];
  let open = false;
  let sliceEnds = 0;

  function begin(): void {
    open = true;
    sliceEnds = now() + SLICE_MS;
    setImmediate(end);
  }
  function end(): void {
    open = false;
    const first = waiting.shift();
    if (first === undefined) return;
    begin();
    first();
  }
  return {
    next() {
      if (!open) begin();
      if (now() < sliceEnds) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** One for the whole process: the event loop is one too. */
export const turns = createTurns();
