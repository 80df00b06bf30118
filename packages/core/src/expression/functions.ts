import { order, same } from '../filter/compare.ts';
import { asNumber, isPresent, textOf, tidy } from '../transforms/values.ts';
import { joined, mayRead } from '../value-size.ts';

/** Functions of the expression language. They are pure, never throw, and return `undefined` for "no such value". */
interface ExpressionFunction {
  summary: string;
  min: number;
  max: number;
  /** Reads its arguments to the end: they count towards what an event may read. */
  reads_all?: boolean;
  call(args: readonly unknown[]): unknown;
}

const MANY = 50;

export const FUNCTIONS: Readonly<Record<string, ExpressionFunction>> = {
  round: {
    summary: 'round(number, places = 0)',
    min: 1,
    max: 2,
    call: ([value, places]) => onNumber(value, (number) => rounded(number, asNumber(places) ?? 0)),
  },
  floor: { summary: 'floor(number)', min: 1, max: 1, call: ([value]) => onNumber(value, Math.floor) },
  ceil: { summary: 'ceil(number)', min: 1, max: 1, call: ([value]) => onNumber(value, Math.ceil) },
  abs: { summary: 'abs(number)', min: 1, max: 1, call: ([value]) => onNumber(value, Math.abs) },
  min: {
    summary: 'min(number, …) or min(list): the smallest',
    min: 1,
    max: MANY,
    reads_all: true,
    call: (args) => extreme(args, Math.min),
  },
  max: { summary: 'max(number, …) or max(list): the largest', min: 1, max: MANY, reads_all: true, call: (args) => extreme(args, Math.max) },
  sum: {
    summary: 'sum(list), or sum(number, …)',
    min: 1,
    max: MANY,
    reads_all: true,
    call: (args) => {
      const numbers = numbersOf(args);
      return numbers.length === 0 ? undefined : tidy(numbers.reduce((total, number) => total + number, 0));
    },
  },
  count: {
    summary: 'count(list): how many elements are there',
    min: 1,
    max: 1,
    reads_all: true,
    call: ([value]) => (Array.isArray(value) ? value.filter(isPresent).length : 0),
  },
  lower: { summary: 'lower(text)', min: 1, max: 1, reads_all: true, call: ([value]) => textOf(value)?.toLowerCase() },
  upper: { summary: 'upper(text)', min: 1, max: 1, reads_all: true, call: ([value]) => textOf(value)?.toUpperCase() },
  trim: { summary: 'trim(text)', min: 1, max: 1, reads_all: true, call: ([value]) => textOf(value)?.trim() },
  length: {
    summary: 'length(text) or length(list)',
    min: 1,
    max: 1,
    call: ([value]) => (Array.isArray(value) ? value.length : textOf(value)?.length),
  },
  substring: {
    summary: 'substring(text, start, end?): positions from 0, the end not included',
    min: 2,
    max: 3,
    call: ([value, start, end]) => textOf(value)?.substring(asNumber(start) ?? 0, asNumber(end)),
  },
  concat: {
    summary: 'concat(a, b, …): the texts one after another, missing ones left out',
    min: 1,
    max: MANY,
    reads_all: true,
    call: (args) =>
      joined(
        args.map((arg) => textOf(arg) ?? ''),
        '',
      ),
  },
  join: {
    summary: 'join(list, separator = ",")',
    min: 1,
    max: 2,
    reads_all: true,
    call: ([list, separator]) =>
      Array.isArray(list)
        ? joined(
            list.map(textOf).filter((part) => part !== undefined),
            textOf(separator) ?? ',',
          )
        : textOf(list),
  },
  first: { summary: 'first(list)', min: 1, max: 1, call: ([list]) => (Array.isArray(list) ? list.find(isPresent) : list) },
  last: { summary: 'last(list)', min: 1, max: 1, call: ([list]) => (Array.isArray(list) ? list.findLast(isPresent) : list) },
  contains: {
    summary: 'contains(text, part) or contains(list, element)',
    min: 2,
    max: 2,
    reads_all: true,
    call: ([value, part]) => (Array.isArray(value) ? value.some((one) => same(one, part)) : hasText(value, part, 'includes')),
  },
  starts_with: { summary: 'starts_with(text, part)', min: 2, max: 2, call: ([value, part]) => hasText(value, part, 'startsWith') },
  ends_with: { summary: 'ends_with(text, part)', min: 2, max: 2, call: ([value, part]) => hasText(value, part, 'endsWith') },
  coalesce: { summary: 'coalesce(a, b, …): the first that is there', min: 1, max: MANY, call: (args) => args.find(isPresent) },
  number: { summary: 'number(text)', min: 1, max: 1, call: ([value]) => asNumber(value) },
  string: { summary: 'string(value)', min: 1, max: 1, call: ([value]) => textOf(value) },
  between: {
    summary: 'between(value, low, high): both ends included',
    min: 3,
    max: 3,
    call: ([value, low, high]) => order(value, low) >= 0 && order(value, high) <= 0,
  },
};

function onNumber(value: unknown, apply: (number: number) => number): number | undefined {
  const number = asNumber(value);
  return number === undefined ? undefined : tidy(apply(number));
}

function rounded(number: number, places: number): number {
  if (Number.isInteger(number)) return number;
  const factor = 10 ** Math.min(10, Math.max(0, Math.trunc(places)));
  const scaled = tidy(Math.abs(number) * factor);
  return scaled === undefined ? number : (Math.sign(number) * Math.round(scaled)) / factor;
}

function numbersOf(args: readonly unknown[]): number[] {
  return args
    .flatMap((arg) => (Array.isArray(arg) ? arg : [arg]))
    .map(asNumber)
    .filter((number) => number !== undefined);
}

function extreme(args: readonly unknown[], pick: (a: number, b: number) => number): number | undefined {
  const numbers = numbersOf(args);
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => pick(a, b));
}

function hasText(value: unknown, part: unknown, how: 'includes' | 'startsWith' | 'endsWith'): boolean {
  const text = textOf(value);
  const wanted = textOf(part);
  return text !== undefined && wanted !== undefined && mayRead(wanted.length) && text[how](wanted);
}
