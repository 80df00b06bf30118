/** Sums up the slices of a long run: each slice appends a line of JSON to a file, and the next slice continues behind it. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export interface Slice {
  runner: string;
  cases: number;
  /** Answers that were not the wanted ones, 5xx included. */
  faults: number;
  /** Longest stall in ms: by the clock, and by the event loop's own processor time. */
  stall: { wall: number; cpu: number; step?: string };
  /** Highest private memory in MB. */
  peakMb: number;
  /** The round, for `schema` the seed, with which the next slice continues. */
  next: number;
  seconds: number;
}

export class Sums {
  readonly #file: string;
  readonly #slices: Slice[];

  constructor(file: string) {
    this.#file = file;
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    this.#slices = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Slice);
  }

  cases(runner: string): number {
    return this.#of(runner).reduce((sum, { cases }) => sum + cases, 0);
  }
  /** Where the runner continues. */
  next(runner: string): number {
    return Math.max(0, ...this.#of(runner).map(({ next }) => next));
  }
  /** Stores the slice and returns the sum so far. */
  add(slice: Slice): string {
    appendFileSync(this.#file, `${JSON.stringify(slice)}\n`);
    this.#slices.push(slice);
    const slices = this.#of(slice.runner);
    const total = (of: (slice: Slice) => number) => slices.reduce((sum, each) => sum + of(each), 0);
    const most = (of: (slice: Slice) => number) => Math.max(...slices.map(of));
    return (
      `${slice.runner}, ${slices.length} slices: ${total(({ cases }) => cases)} cases in ${total(({ seconds }) => seconds)} s, ` +
      `${total(({ faults }) => faults)} wrong; longest stall ${most(({ stall }) => stall.wall)} ms, own work ` +
      `${most(({ stall }) => stall.cpu)} ms; private memory ${most(({ peakMb }) => peakMb)} MB at most`
    );
  }

  #of(runner: string): Slice[] {
    return this.#slices.filter((slice) => slice.runner === runner);
  }
}
