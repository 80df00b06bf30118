/** Lines with a recent slow or terminated run. Together they never occupy the last worker. */
import type { Clock } from '../runtime/clock.ts';

const SUSPECT_MS = 10_000;
const MAX_SUSPECTS = 10_000;

export class Suspects {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Line to expiry time. */
  readonly #lines = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  has(line: string): boolean {
    const until = this.#lines.get(line);
    if (until === undefined) return false;
    if (this.#clock.monotonic() < until) return true;
    this.#lines.delete(line);
    return false;
  }
  add(line: string): void {
    this.#lines.delete(line);
    if (this.#lines.size >= MAX_SUSPECTS) this.#lines.delete(this.#lines.keys().next().value as string);
    this.#lines.set(line, this.#clock.monotonic() + SUSPECT_MS);
  }
}
