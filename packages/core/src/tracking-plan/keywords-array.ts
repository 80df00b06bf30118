import { jsonEqual } from './equal.ts';
import { wholeNumber } from './keywords-scalar.ts';
import { type Check, fail, type Keyword, passes, type Run, type SchemaScope, spendOnParts } from './run.ts';

/** Draft 7 writes a tuple as `items: […]` with `additionalItems`; 2020-12 uses `prefixItems` with `items`. */
const items: Keyword = (value, schema, where, scope, depth) => {
  if (Array.isArray(value)) {
    const rest =
      schema.additionalItems === undefined ? undefined : scope.compile(schema.additionalItems, `${where}.additionalItems`, depth);
    return tuple(schemaList(value, where, scope, depth), rest);
  }
  const check = scope.compile(value, where, depth);
  const from = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
  return (one, path, run) => {
    if (!Array.isArray(one) || !spendOnParts(run, one.length)) return;
    for (let i = from; i < one.length; i++) check(one[i], `${path}[${i}]`, run);
  };
};

const prefixItems: Keyword = (value, _schema, where, scope, depth) => {
  if (!Array.isArray(value) || value.length === 0) {
    scope.fault(where, 'must be a list of schemas');
    return undefined;
  }
  return tuple(schemaList(value, where, scope, depth), undefined);
};

function tuple(checks: readonly Check[], rest: Check | undefined): Check {
  return (one, path, run) => {
    if (!Array.isArray(one) || !spendOnParts(run, one.length)) return;
    for (let i = 0; i < one.length; i++) (checks[i] ?? rest)?.(one[i], `${path}[${i}]`, run);
  };
}

const contains: Keyword = (value, schema, where, scope, depth) => {
  const check = scope.compile(value, where, depth);
  const least = typeof schema.minContains === 'number' ? schema.minContains : 1;
  const most = typeof schema.maxContains === 'number' ? schema.maxContains : Number.POSITIVE_INFINITY;
  return (one, path, run) => {
    if (!Array.isArray(one) || !spendOnParts(run, one.length)) return;
    let count = 0;
    for (let i = 0; i < one.length; i++) if (passes(check, one[i], path, run)) count += 1;
    if (count < least) fail(run, path, `must contain at least ${least} matching item${least === 1 ? '' : 's'}`);
    if (count > most) fail(run, path, `must contain at most ${most} matching items`);
  };
};

const uniqueItems: Keyword = (value, _schema, where, scope) => {
  if (typeof value !== 'boolean') scope.fault(where, 'must be true or false');
  if (value !== true) return undefined;
  return (one, path, run) => {
    if (Array.isArray(one) && spendOnParts(run, one.length) && hasRepeat(one, run)) fail(run, path, 'must not contain an item twice');
  };
};

/** Compares scalars with a set and objects pairwise, as far as the budget allows. */
function hasRepeat(list: unknown[], run: Run): boolean {
  const scalars = new Set<unknown>();
  const others: unknown[] = [];
  for (const item of list) {
    if (typeof item !== 'object' || item === null) {
      if (scalars.has(item)) return true;
      scalars.add(item);
      continue;
    }
    for (const other of others) {
      if (run.budget <= 0) return false;
      run.budget -= 1;
      if (jsonEqual(item, other, run)) return true;
    }
    others.push(item);
  }
  return false;
}

function onCount(test: (count: number, bound: number) => boolean, words: string): Keyword {
  return (value, _schema, where, scope) => {
    if (!wholeNumber(value, where, scope)) return undefined;
    const message = `must have ${words} ${value} items`;
    return (one, path, run) => void (!Array.isArray(one) || test(one.length, value) || fail(run, path, message));
  };
}

function schemaList(value: unknown[], where: string, scope: SchemaScope, depth: number): Check[] {
  return value.map((one, i) => scope.compile(one, `${where}[${i}]`, depth));
}

export const arrayKeywords: Readonly<Record<string, Keyword>> = {
  items,
  prefixItems,
  contains,
  uniqueItems,
  minItems: onCount((count, bound) => count >= bound, 'at least'),
  maxItems: onCount((count, bound) => count <= bound, 'at most'),
};
