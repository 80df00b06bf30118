/**
 * Processor time of this thread at moments a few milliseconds apart. A stall is noticed by a late timer, and the time that the thread used
 * before the timer was due is not part of the stall.
 */
const EVERY_MS = 5;

export interface CpuUse {
  /** Microseconds. */
  user: number;
  system: number;
}

export class CpuSamples {
  readonly #read: () => CpuUse;
  #samples: { at: number; use: CpuUse }[] = [];
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(read: () => CpuUse = () => process.threadCpuUsage()) {
    this.#read = read;
  }

  /** Call often: it samples at most every few milliseconds. */
  note(now: number): void {
    if (now - this.#lastAt >= EVERY_MS) this.#add(now);
  }
  /** Processor time since the last sample at or before `moment`, or since the first one. Earlier samples are dropped. */
  take(moment: number, now: number): CpuUse {
    const known = this.#samples.findLast(({ at }) => at <= moment) ?? this.#samples[0];
    this.#samples = [];
    const { user, system } = this.#add(now);
    return known === undefined ? { user: 0, system: 0 } : { user: user - known.use.user, system: system - known.use.system };
  }

  #add(now: number): CpuUse {
    const use = this.#read();
    this.#samples.push({ at: now, use });
    this.#lastAt = now;
    return use;
  }
}
