import { compilePattern } from '../filter/pattern.ts';
import { jsonEqual } from './equal.ts';
import { FORMATS } from './formats.ts';
import { type Check, fail, type Keyword, type SchemaScope, spendOnText } from './run.ts';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: (value) => Array.isArray(value),
};

const type: Keyword = (value, schema, where, scope) => {
  const names: unknown[] = Array.isArray(value) ? [...value] : [value];
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && Object.hasOwn(TYPES, name))) {
    scope.fault(where, `must be one of ${Object.keys(TYPES).join(', ')}, or a list of them`);
    return undefined;
  }
  if (schema.nullable === true && !names.includes('null')) names.push('null');
  const tests = names.map((name) => TYPES[name as string]!);
  const message = `must be ${names.join(' or ')}`;
  const only = tests[0]!;
  if (tests.length === 1) return (one, path, run) => void (only(one) || fail(run, path, message));
  return (one, path, run) => void (tests.some((test) => test(one)) || fail(run, path, message));
};

const enumeration: Keyword = (value, _schema, where, scope) => {
  if (!Array.isArray(value) || value.length === 0) {
    scope.fault(where, 'must be a list of values');
    return undefined;
  }
  const scalars = new Set(value.filter((one) => typeof one !== 'object' || one === null));
  const others = value.filter((one) => typeof one === 'object' && one !== null);
  const message = `must be one of ${JSON.stringify(value).slice(0, 200)}`;
  return (one, path, run) => void (scalars.has(one) || others.some((other) => jsonEqual(other, one, run)) || fail(run, path, message));
};

const constant: Keyword = (value) => {
  const message = `must be ${JSON.stringify(value)?.slice(0, 200)}`;
  return (one, path, run) => void (jsonEqual(value, one, run) || fail(run, path, message));
};

export function wholeNumber(value: unknown, where: string, scope: SchemaScope): value is number {
  if (Number.isInteger(value) && (value as number) >= 0) return true;
  scope.fault(where, 'must be a whole number, 0 or more');
  return false;
}

function onNumber(test: (one: number, bound: number) => boolean, words: string, positive = false): Keyword {
  return (value, _schema, where, scope) => {
    if (typeof value !== 'number' || (positive && value <= 0)) {
      scope.fault(where, positive ? 'must be a number above 0' : 'must be a number');
      return undefined;
    }
    const message = `must be ${words} ${value}`;
    return (one, path, run) => void (typeof one !== 'number' || test(one, value) || fail(run, path, message));
  };
}

function onLength(test: (length: number, bound: number) => boolean, words: string): Keyword {
  return (value, _schema, where, scope) => {
    if (!wholeNumber(value, where, scope)) return undefined;
    const message = `must have ${words} ${value} characters`;
    return (one, path, run) => {
      if (typeof one !== 'string') return;
      // The code points are at least half as many. Mostly that decides.
      const most = test(one.length, value);
      const ok = most === test(one.length / 2, value) ? most : !spendOnText(run, one) || test(characters(one), value);
      if (!ok) fail(run, path, message);
    };
  };
}

/** Counts code points, as the standard does. */
function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) count -= 1;
  }
  return count;
}

const pattern: Keyword = (value, _schema, where, scope) => {
  const compiled = typeof value === 'string' ? compilePattern(value) : ({ ok: false, message: 'must be a regular expression' } as const);
  if (!compiled.ok) {
    scope.fault(where, compiled.message);
    return undefined;
  }
  const { regexp } = compiled;
  const message = `must match ${value}`;
  return (one, path, run) => void (typeof one !== 'string' || !spendOnText(run, one) || regexp.test(one) || fail(run, path, message));
};

const format: Keyword = (value, _schema, where, scope): Check | undefined => {
  if (typeof value !== 'string') {
    scope.fault(where, 'must be the name of a format');
    return undefined;
  }
  const test = FORMATS.get(value);
  if (test === undefined) return undefined;
  const message = `must be a valid ${value}`;
  return (one, path, run) => void (typeof one !== 'string' || !spendOnText(run, one) || test(one) || fail(run, path, message));
};

export const scalarKeywords: Readonly<Record<string, Keyword>> = {
  type,
  enum: enumeration,
  const: constant,
  minimum: onNumber((one, bound) => one >= bound, 'at least'),
  maximum: onNumber((one, bound) => one <= bound, 'at most'),
  exclusiveMinimum: onNumber((one, bound) => one > bound, 'above'),
  exclusiveMaximum: onNumber((one, bound) => one < bound, 'below'),
  multipleOf: onNumber((one, bound) => isMultiple(one, bound), 'a multiple of', true),
  minLength: onLength((length, bound) => length >= bound, 'at least'),
  maxLength: onLength((length, bound) => length <= bound, 'at most'),
  pattern,
  format,
};

/** Tolerates binary fractions: 19.99 is a multiple of 0.01. */
function isMultiple(one: number, bound: number): boolean {
  const quotient = one / bound;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient)) * 2;
}
