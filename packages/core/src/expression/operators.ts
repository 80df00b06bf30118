import { order, same } from '../filter/compare.ts';
import { asNumber, textOf, tidy } from '../transforms/values.ts';
import { MAX_TEXT } from '../value-size.ts';

export type Evaluate = (event: unknown) => unknown;
type Binary = (left: Evaluate, right: Evaluate) => Evaluate;

/** From lowest to highest precedence. The operands of each level are expressions of the next. */
export const LEVELS: readonly Readonly<Record<string, Binary>>[] = [
  { '??': (left, right) => (event) => left(event) ?? right(event) },
  { '||': (left, right) => (event) => left(event) || right(event) },
  { '&&': (left, right) => (event) => left(event) && right(event) },
  { '==': equality(true), '===': equality(true), '!=': equality(false), '!==': equality(false) },
  { '<': compare((o) => o < 0), '<=': compare((o) => o <= 0), '>': compare((o) => o > 0), '>=': compare((o) => o >= 0) },
  { '+': (left, right) => (event) => plus(left(event), right(event)), '-': arithmetic((a, b) => a - b) },
  { '*': arithmetic((a, b) => a * b), '/': arithmetic((a, b) => a / b), '%': arithmetic((a, b) => a % b) },
];

function equality(wanted: boolean): Binary {
  return (left, right) => (event) => same(left(event), right(event)) === wanted;
}

function compare(holds: (order: number) => boolean): Binary {
  return (left, right) => (event) => holds(order(left(event), right(event)));
}

/** Undefined if an operand is not a number or the result is not finite (division by zero). */
function arithmetic(apply: (a: number, b: number) => number): Binary {
  return (left, right) => (event) => {
    const a = asNumber(left(event));
    const b = asNumber(right(event));
    return a === undefined || b === undefined ? undefined : tidy(apply(a, b));
  };
}

/** Adds if one side is a number and the other reads like one; otherwise concatenates texts. Undefined if one side is missing. */
function plus(left: unknown, right: unknown): unknown {
  if (typeof left === 'number' || typeof right === 'number') {
    const a = asNumber(left);
    const b = asNumber(right);
    if (a !== undefined && b !== undefined) return tidy(a + b);
  }
  const a = textOf(left);
  const b = textOf(right);
  return a === undefined || b === undefined || a.length + b.length > MAX_TEXT ? undefined : a + b;
}
