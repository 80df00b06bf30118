/**
 * Starts a garbage collection when a load has ended. V8 collects the old generation while memory is allocated, so that an idle process would
 * keep the garbage of its last load: 35 MB, most of it buffers.
 */
import { loopUtilisation } from './loop-utilisation.ts';

const TICK_MS = 5_000;
/** Shares of the time that the event loop is at work. */
const BUSY = 0.3;
const CALM = 0.15;
/** V8 starts a collection in small steps when more than 64 MB of buffers were allocated since the last one. */
const ENOUGH_BYTES = 128 * 1_048_576;

export interface CollectAfterLoadDeps {
  /** The share of time since the last call in which the event loop was at work. */
  utilisation?: () => number;
  collect?: () => void;
}

export function collectAfterLoad({ utilisation = loopUtilisation(), collect = startCollection }: CollectAfterLoadDeps = {}): {
  stop(): void;
} {
  let wasBusy = false;
  const timer = setInterval(() => {
    const busy = utilisation();
    if (busy > BUSY) wasBusy = true;
    else if (busy < CALM && wasBusy) {
      wasBusy = false;
      collect();
    }
  }, TICK_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** Nothing is written to these pages, so they take no memory. `gc()` would need a flag, and would hold the event loop until it has finished. */
function startCollection(): void {
  try {
    new ArrayBuffer(ENOUGH_BYTES);
  } catch (error) {
    // The address space is limited: the garbage stays until the next load.
    if (!(error instanceof RangeError)) throw error;
  }
}
