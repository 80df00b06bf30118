/** Runs at most so many asynchronous jobs at once. The others wait, in their order. */
export class AtMost {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(jobs: number) {
    this.#free = jobs;
  }
  async run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
