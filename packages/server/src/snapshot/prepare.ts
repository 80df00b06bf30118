import { type Cost, type Excess, measureInSteps } from '@firsthand/core/config/budget.ts';
import { compilePattern } from '@firsthand/core/filter/pattern.ts';
import type { Steps } from '@firsthand/core/steps.ts';
import { finishInTurns } from '../runtime/turns.ts';

/**
 * Makes a configuration document safe to compile synchronously. Rejects one that exceeds a budget, and compiles its regular expressions,
 * by far the most expensive part, one by one, yielding to the event loop in between. They are cached by content, so the compiler finds
 * them ready and an unchanged pattern costs nothing.
 */
export function prepareConfiguration(document: unknown): Promise<Prepared> {
  return finishInTurns(prepareInSteps(document));
}
export interface Prepared {
  cost: Cost;
  excess?: Excess;
}
export function* prepareInSteps(document: unknown): Steps<Prepared> {
  const measured = yield* measureInSteps(document);
  if (!measured.ok) return { cost: measured.cost, excess: measured };
  for (const { pattern, any_case } of measured.patterns) {
    yield;
    compilePattern(pattern, { any_case });
  }
  return { cost: measured.cost };
}
