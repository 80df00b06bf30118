/**
 * Work that can be divided: a generator that yields where the caller may do something else. A document may take a quarter of a second to
 * compile, and a server answers requests meanwhile.
 */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}
