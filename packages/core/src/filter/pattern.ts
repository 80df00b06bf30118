/**
 * RE2 regular expressions. Matching time is linear in the length of the text, but also in the size of the compiled pattern, and
 * compiling costs about 10 µs per step. Both are bounded. Compiled patterns are cached by content, so reloading a configuration
 * compiles only new patterns.
 *
 * The engine has two ways to test a text. Its automaton takes about 25 ns per character, whatever the pattern, as long as it has few
 * states. Overlapping repetitions (`a.{30}c$`) give it millions of states, at up to 150 ns per step and character. Its simulation takes
 * at most 40 ns per step and character. So only patterns of a few steps, which cannot have many states, use the automaton.
 */
import { RE2JS } from 're2js';
import type { Steps } from '../steps.ts';
import { estimatePatternSteps } from './pattern-size.ts';

export const MAX_PATTERN_LENGTH = 1_000;
/** `^.{1,1000}$`, the longest repetition RE2 allows, has 2,005 steps. An expression for URLs has about 550. */
const MAX_STEPS = 2_500;
/** Patterns of at most this many steps use the automaton. */
const SMALL = 16;
/** Characters that a small pattern may read: all of the largest event. */
const MAX_LENGTH_SMALL = 1_500_000;
/** Steps times characters that any other pattern may take, and a small one in a replacement: 40 ms at worst. */
const MAX_WORK = 1_050_000;
/** Work allowed per event for all patterns together. A character that the automaton reads counts as `AUTOMATON_PRICE`. */
const EVENT_BUDGET = 1_200_000;
const AUTOMATON_PRICE = 0.75;
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
  const simulates = (text: string) => affords(text, size, MAX_WORK / size);
  const isSmall = size <= SMALL;
  return {
    ok: true,
    regexp: {
      test: isSmall
        ? (text) => affords(text, AUTOMATON_PRICE, MAX_LENGTH_SMALL) && program.test(text)
        : (text) => simulates(text) && program.matcher(text).find(),
      replaceAll: (text, replacement) => (simulates(text) ? program.matcher(text).replaceAll(replacement) : undefined),
    },
  };
}

function affords({ length }: string, price: number, longest: number): boolean {
  budget -= (length + TEST_COST) * price;
  return length <= longest && budget >= 0;
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

/** The same for divided work. Between its steps other events have theirs. */
export function* patternBudgetInSteps<T>(steps: Steps<T>): Steps<T> {
  let left = EVENT_BUDGET;
  for (;;) {
    const outer = budget;
    budget = left;
    let step: IteratorResult<undefined, T>;
    try {
      step = steps.next();
      left = budget;
    } finally {
      budget = outer;
    }
    if (step.done) return step.value;
    yield;
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
