/**
 * RE2 regular expressions. Matching time is linear in the length of the text, but also in the size of the compiled pattern, and
 * compiling costs about 10 µs per step. Both are bounded. Compiled patterns are cached by content, so reloading a configuration
 * compiles only new patterns.
 */
import { RE2JS } from 're2js';
import { estimatePatternSteps } from './pattern-size.ts';

export const MAX_PATTERN_LENGTH = 1_000;
/** `^.{1,1000}$`, the longest repetition RE2 allows, has 2,005 steps. An expression for URLs has about 550. */
const MAX_STEPS = 2_500;
/**
 * Work is steps times characters. Patterns of at most `SMALL` steps take a few nanoseconds per unit, so they may read the largest
 * event.
 */
const SMALL = 40;
const MAX_WORK_SMALL = 20_000_000;
/** Large patterns with nested repetitions cost up to a hundred times as much per unit of work. */
const MAX_WORK = 1_200_000;
/** Work allowed per event for all patterns together. Small patterns count a twentieth of their work. */
const EVENT_BUDGET = 3_000_000;
/** Steps of all cached patterns. The oldest are evicted first. */
const MAX_CACHED_STEPS = 250_000;

export interface Pattern {
  /** Matches anywhere in the text. False if text and pattern together are too much work. */
  test(text: string): boolean;
  /** Undefined if text and pattern together are too much work. */
  replaceAll(text: string, replacement: string): string | undefined;
}
export type CompiledPattern = { ok: true; regexp: Pattern } | { ok: false; message: string };

const cache = new Map<string, { compiled: CompiledPattern; steps: number }>();
let cachedSteps = 0;

export function compilePattern(pattern: string, options: { any_case?: boolean } = {}): CompiledPattern {
  if (pattern.length > MAX_PATTERN_LENGTH) return { ok: false, message: `A pattern may be at most ${MAX_PATTERN_LENGTH} characters long.` };
  const anyCase = options.any_case === true;
  const key = `${anyCase ? 'i' : ''}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known.compiled;
  const steps = estimatePatternSteps(pattern, anyCase);
  if (steps > 2 * MAX_STEPS) return tooLarge(steps);
  const compiled = compile(pattern, anyCase);
  keep(key, compiled, steps);
  return compiled;
}

function compile(pattern: string, anyCase: boolean): CompiledPattern {
  let program: RE2JS;
  try {
    program = anyCase ? RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE) : RE2JS.compile(pattern);
  } catch (error) {
    return { ok: false, message: `Not a regular expression of RE2: ${error instanceof Error ? error.message : 'unknown fault'}` };
  }
  const size = program.programSize();
  if (size > MAX_STEPS) return tooLarge(size);
  const affords = affordsWith(size);
  return {
    ok: true,
    regexp: {
      test: (text) => affords(text) && program.test(text),
      replaceAll: (text, replacement) => (affords(text) ? program.matcher(text).replaceAll(replacement) : undefined),
    },
  };
}

function affordsWith(size: number): (text: string) => boolean {
  const small = size <= SMALL;
  const longest = Math.floor((small ? MAX_WORK_SMALL : MAX_WORK) / size);
  const price = small ? size / 20 : size;
  return ({ length }) => {
    budget -= (length + TEST_COST) * price;
    return length <= longest && budget >= 0;
  };
}

/** Fixed cost of a test, in characters: even an empty text is not free. */
const TEST_COST = 16;
let budget = Number.POSITIVE_INFINITY;

/** Runs one event's synchronous work with a shared budget for all its patterns. Once it is used up, no pattern matches. */
export function withPatternBudget<T>(run: () => T): T {
  const outer = budget;
  budget = EVENT_BUDGET;
  try {
    return run();
  } finally {
    budget = outer;
  }
}

function tooLarge(steps: number): CompiledPattern {
  return { ok: false, message: `The pattern is too large: its repetitions come to ${steps} steps, at most ${MAX_STEPS}.` };
}

function keep(key: string, compiled: CompiledPattern, steps: number): void {
  cache.set(key, { compiled, steps });
  cachedSteps += steps;
  for (const [oldest, { steps: freed }] of cache) {
    if (cachedSteps <= MAX_CACHED_STEPS) return;
    cache.delete(oldest);
    cachedSteps -= freed;
  }
}
