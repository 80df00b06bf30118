import type { ConditionOp } from '../config/resources.ts';
import { isObject } from '../json.ts';
import { type CompiledGetter, compileGetter, type Getter, isRooted, type Roots } from '../path/path.ts';
import { mayReadList } from '../value-size.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { same } from './compare.ts';
import { compileOperator, OPERATORS, valueFault } from './operators.ts';

export type ConditionTest = (event: unknown) => boolean;
export type CompiledCondition = { ok: true; test: ConditionTest } | { ok: false; faults: ConfigFault[] };

const MAX_DEPTH = 16;
const MAX_CONDITIONS = 500;

/**
 * Compiles a stored condition to one function. `where` is the path of the condition in the configuration and the prefix of every
 * fault's path. Missing and null are the same: `exists` fails on both, `ne` and `not_in` hold for both.
 */
export function compileCondition(condition: unknown, where: string, roots?: Roots): CompiledCondition {
  const compiler = new ConditionCompiler(roots);
  const test = compiler.compile(condition, where, 0);
  return compiler.faults.length > 0 ? { ok: false, faults: compiler.faults } : { ok: true, test };
}

/** Conditions whose result is known at compile time, because they depend on parameters only, are one of these two functions. */
export const ALWAYS: ConditionTest = () => true;
export const NEVER: ConditionTest = () => false;

class ConditionCompiler {
  readonly faults: ConfigFault[] = [];
  readonly #roots: Roots | undefined;
  #count = 0;

  constructor(roots: Roots | undefined) {
    this.#roots = roots;
  }

  compile(condition: unknown, where: string, depth: number): ConditionTest {
    this.#count += 1;
    if (depth > MAX_DEPTH) return this.#fault(where, `Conditions may be nested at most ${MAX_DEPTH} deep.`);
    if (this.#count > MAX_CONDITIONS) return this.#fault(where, `A condition may have at most ${MAX_CONDITIONS} parts.`);
    if (!isObject(condition)) return this.#fault(where, 'A condition is an object: {field, op, value}, {all}, {any} or {not}.');
    for (const group of ['all', 'any', 'not'] as const) {
      if (!Object.hasOwn(condition, group)) continue;
      this.#onlyKeys(condition, [group], where);
      return this.#group(group, condition[group], `${where}.${group}`, depth + 1);
    }
    return this.#comparison(condition, where);
  }

  #group(group: 'all' | 'any' | 'not', inner: unknown, where: string, depth: number): ConditionTest {
    if (group === 'not') {
      const test = this.compile(inner, where, depth);
      if (test === ALWAYS) return NEVER;
      return test === NEVER ? ALWAYS : (event) => !test(event);
    }
    if (!Array.isArray(inner)) return this.#fault(where, 'A list of conditions is needed.');
    const tests = inner.map((one, i) => this.compile(one, `${where}[${i}]`, depth));
    const [decides, neutral] = group === 'all' ? [NEVER, ALWAYS] : [ALWAYS, NEVER];
    if (tests.includes(decides)) return decides;
    const open = tests.filter((test) => test !== neutral);
    const [only] = open;
    if (only === undefined) return neutral;
    if (open.length === 1) return only;
    return group === 'all' ? allOf(open) : anyOf(open);
  }

  #comparison(condition: Record<string, unknown>, where: string): ConditionTest {
    this.#onlyKeys(condition, ['field', 'op', 'value'], where);
    const { field, op, value } = condition;
    const getter = this.#field(field, `${where}.field`);
    if (typeof op !== 'string' || !Object.hasOwn(OPERATORS, op)) {
      return this.#fault(`${where}.op`, `An operator is one of ${Object.keys(OPERATORS).join(', ')}.`);
    }
    const known = op as ConditionOp;
    const fault = valueFault(known, value);
    if (fault) return this.#fault(`${where}.value`, fault);
    const compiled = compileOperator(known, value);
    if (!compiled.ok) return this.#fault(`${where}.value`, compiled.message);
    if (!getter) return NEVER;
    const { get, paths } = getter;
    const { test } = compiled;
    const [path = []] = paths;
    if (this.#roots && isRooted(path, this.#roots)) return test(get(undefined)) ? ALWAYS : NEVER;
    if ((known === 'eq' || known === 'ne') && typeof field === 'string' && field.includes('[*]'))
      return anyElement(get, value, known === 'eq');
    return (event) => test(get(event));
  }

  #field(field: unknown, where: string): CompiledGetter | undefined {
    if (typeof field !== 'string') {
      this.#fault(where, 'The path of a field is needed.');
      return undefined;
    }
    const compiled = compileGetter(field, this.#roots);
    if (compiled.ok) return compiled;
    this.#fault(where, compiled.message);
    return undefined;
  }

  #onlyKeys(condition: Record<string, unknown>, known: readonly string[], where: string): void {
    for (const key of Object.keys(condition)) {
      if (!known.includes(key)) this.#fault(`${where}.${key}`, 'There is no such key in a condition.');
    }
  }

  #fault(field: string, message: string): ConditionTest {
    this.faults.push({ field, message });
    return NEVER;
  }
}

/** `products[*].sku eq "A1"` holds if one element matches; `ne` is the negation. */
function anyElement(get: Getter, expected: unknown, wanted: boolean): ConditionTest {
  return (event) => {
    const actual = get(event);
    const found = Array.isArray(actual) ? mayReadList(actual) && actual.some((one) => same(one, expected)) : same(actual, expected);
    return found === wanted;
  };
}

function allOf(tests: readonly ConditionTest[]): ConditionTest {
  return (event) => {
    for (const test of tests) if (!test(event)) return false;
    return true;
  };
}

function anyOf(tests: readonly ConditionTest[]): ConditionTest {
  return (event) => {
    for (const test of tests) if (test(event)) return true;
    return false;
  };
}
