/** Returns a function that runs at most `most` jobs at the same time; the others wait in order. */
export function inTurn(most: number): <T>(job: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (job) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await job();
    } finally {
      // The next one takes the place over.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
