/**
 * Lines with slow runs. A suspect had one recently: suspects together never occupy the last worker. A heavy line is slow in half of its
 * runs: heavy lines together occupy one core less than there are workers.
 */
import type { Clock } from '../runtime/clock.ts';

const SUSPECT_MS = 10_000;
const MAX_SUSPECTS = 10_000;
/** The last eight finished runs, a bit each. */
const HISTORY = 0xff;
const HEAVY_RUNS = 4;

interface Suspect {
  until: number;
  slowRuns: number;
}

export class Suspects {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lines = new Map<string, Suspect>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  has(line: string): boolean {
    return this.#find(line) !== undefined;
  }
  isHeavy(line: string): boolean {
    return bitsOf(this.#find(line)?.slowRuns ?? 0) >= HEAVY_RUNS;
  }
  /** A run of this line is slow, and may not have ended yet. */
  add(line: string): void {
    const slowRuns = this.#find(line)?.slowRuns ?? 0;
    this.#lines.delete(line);
    if (this.#lines.size >= MAX_SUSPECTS) this.#lines.delete(this.#lines.keys().next().value as string);
    this.#lines.set(line, { until: this.#clock.monotonic() + SUSPECT_MS, slowRuns });
  }
  /** A run of this line ended. */
  noteRun(line: string, isSlow: boolean): void {
    if (isSlow) this.add(line);
    const known = this.#lines.get(line);
    if (known !== undefined) known.slowRuns = ((known.slowRuns << 1) | (isSlow ? 1 : 0)) & HISTORY;
  }

  #find(line: string): Suspect | undefined {
    const known = this.#lines.get(line);
    if (known === undefined || this.#clock.monotonic() < known.until) return known;
    this.#lines.delete(line);
    return undefined;
  }
}

function bitsOf(value: number): number {
  let count = 0;
  for (let rest = value; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}
