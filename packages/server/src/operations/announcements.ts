import type { Clock } from '../runtime/clock.ts';

/** What processes announce of themselves again and again, by id. An announcement is void after three intervals. */
export class Announcements<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #heard = new Map<string, { value: T; until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  note(entries: Iterable<readonly [id: string, value: T]>, intervalMs: number): void {
    this.#forgetVoid();
    const until = this.#clock.monotonic() + 3 * intervalMs;
    for (const [id, value] of entries) this.#heard.set(id, { value, until });
  }
  delete(id: string): void {
    this.#heard.delete(id);
  }
  get(id: string): T | undefined {
    const found = this.#heard.get(id);
    return found && found.until >= this.#clock.monotonic() ? found.value : undefined;
  }
  values(): T[] {
    this.#forgetVoid();
    return [...this.#heard.values()].map(({ value }) => value);
  }

  #forgetVoid(): void {
    const now = this.#clock.monotonic();
    for (const [id, { until }] of this.#heard) if (until < now) this.#heard.delete(id);
  }
}
