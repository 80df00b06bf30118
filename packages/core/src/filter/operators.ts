import type { ConditionOp } from '../config/resources.ts';
import { mayRead, mayReadList } from '../value-size.ts';
import { order, same, textOf } from './compare.ts';
import { compilePattern } from './pattern.ts';

type Test = (actual: unknown) => boolean;
type OperatorResult = { ok: true; test: Test } | { ok: false; message: string };

/** `over: each`: a list matches if one of its elements does. `over: whole`: the value is tested as it is. */
interface Operator {
  needs: 'nothing' | 'anything' | 'list' | 'text' | 'comparable';
  over: 'each' | 'whole';
  compile(expected: unknown): OperatorResult;
}

const always = (test: (actual: unknown, expected: unknown) => boolean) => (expected: unknown) =>
  ({ ok: true, test: (actual: unknown) => test(actual, expected) }) as const;
const present: Test = (actual) => actual !== undefined && actual !== null;

export const OPERATORS: Record<ConditionOp, Operator> = {
  eq: { needs: 'anything', over: 'whole', compile: always(same) },
  ne: { needs: 'anything', over: 'whole', compile: always((actual, expected) => !same(actual, expected)) },
  gt: { needs: 'comparable', over: 'each', compile: always((actual, expected) => order(actual, expected) > 0) },
  gte: { needs: 'comparable', over: 'each', compile: always((actual, expected) => order(actual, expected) >= 0) },
  lt: { needs: 'comparable', over: 'each', compile: always((actual, expected) => order(actual, expected) < 0) },
  lte: { needs: 'comparable', over: 'each', compile: always((actual, expected) => order(actual, expected) <= 0) },
  in: { needs: 'list', over: 'whole', compile: always((actual, list) => isAmong(actual, list as unknown[])) },
  not_in: { needs: 'list', over: 'whole', compile: always((actual, list) => !isAmong(actual, list as unknown[])) },
  contains: { needs: 'anything', over: 'whole', compile: always(contains) },
  starts_with: { needs: 'text', over: 'each', compile: onText((actual, expected) => actual.startsWith(expected)) },
  ends_with: { needs: 'text', over: 'each', compile: onText((actual, expected) => actual.endsWith(expected)) },
  matches: { needs: 'text', over: 'each', compile: compileMatches },
  exists: { needs: 'nothing', over: 'whole', compile: always(present) },
  not_exists: { needs: 'nothing', over: 'whole', compile: always((actual) => !present(actual)) },
};

/** Returns a message if the operator's value is invalid. */
export function valueFault(op: ConditionOp, value: unknown): string | undefined {
  switch (OPERATORS[op].needs) {
    case 'nothing':
      return undefined;
    case 'anything':
      return value === undefined ? 'A value is needed.' : undefined;
    case 'list':
      return Array.isArray(value) ? undefined : 'A list of values is needed.';
    case 'text':
      return textOf(value) === undefined ? 'A text is needed.' : undefined;
    case 'comparable':
      return typeof value === 'number' || typeof value === 'string' ? undefined : 'A number or a text is needed.';
  }
}

export function compileOperator(op: ConditionOp, expected: unknown): OperatorResult {
  const operator = OPERATORS[op];
  const compiled = operator.compile(expected);
  if (!compiled.ok || operator.over === 'whole') return compiled;
  const { test } = compiled;
  return { ok: true, test: (actual) => (Array.isArray(actual) ? mayReadList(actual) && actual.some(test) : test(actual)) };
}

function onText(test: (actual: string, expected: string) => boolean) {
  return (expected: unknown): OperatorResult => {
    const text = textOf(expected) ?? '';
    return {
      ok: true,
      test(actual) {
        const actualText = textOf(actual);
        return actualText !== undefined && test(actualText, text);
      },
    };
  };
}

/** RE2 syntax; matches anywhere in the text unless anchored. Time is linear in the length of the text for every pattern. */
function compileMatches(expected: unknown): OperatorResult {
  const pattern = textOf(expected) ?? '';
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return compiled;
  const { regexp } = compiled;
  return {
    ok: true,
    test(actual) {
      const text = textOf(actual);
      return text !== undefined && regexp.test(text);
    },
  };
}

/** Of two lists: beyond, `in` and `not_in` see no common element. */
const MAX_COMPARISONS = 1_000_000;
function isAmong(actual: unknown, list: unknown[]): boolean {
  if (list.some((one) => same(actual, one))) return true;
  if (!Array.isArray(actual) || actual.length * list.length > MAX_COMPARISONS) return false;
  return mayRead(actual.length * list.length) && actual.some((item) => list.some((one) => same(item, one)));
}

function contains(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(actual)) return mayReadList(actual) && actual.some((item) => same(item, expected));
  const text = textOf(actual);
  const part = textOf(expected);
  return text !== undefined && part !== undefined && mayRead(text.length) && text.includes(part);
}
