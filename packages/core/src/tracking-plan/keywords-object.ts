import { compilePattern } from '../filter/pattern.ts';
import { isObject } from '../json.ts';
import { wholeNumber } from './keywords-scalar.ts';
import { type Check, fail, type Keyword, keysOf, passes, type SchemaScope, spendOnParts } from './run.ts';

/** Up to this many properties are looked for one by one. */
const FEW = 16;
/** Trying one pattern on a name counts as much as looking up this many names. */
const PER_PATTERN = 4;

const properties: Keyword = (value, _schema, where, scope, depth) => {
  const list = schemaMap(value, where, scope, depth);
  if (list === undefined) return undefined;
  const names = list.map(([name]) => name);
  const checks = list.map(([, check]) => check);
  const places = new Map(names.length > FEW ? names.map((name, i) => [name, i]) : []);
  return (one, path, run) => {
    if (!isObject(one)) return;
    const at = (i: number) => checks[i]?.(one[names[i]!], `${path}.${names[i]}`, run);
    const keys = names.length > FEW ? keysOf(one, run) : undefined;
    if (keys === undefined || keys.length >= names.length) {
      for (let i = 0; i < names.length; i++) if (Object.hasOwn(one, names[i]!)) at(i);
      return;
    }
    // A plan may have thousands of properties; an event has few of them. Violations keep the order of the plan.
    const present = keys.flatMap((key) => places.get(key) ?? []);
    for (const i of present.sort((a, b) => a - b)) at(i);
  };
};

const patternProperties: Keyword = (value, _schema, where, scope, depth) => {
  const checks = schemaMap(value, where, scope, depth);
  if (checks === undefined) return undefined;
  const patterns = checks.map(([key, check]) => {
    const compiled = compilePattern(key);
    if (!compiled.ok) scope.fault(`${where}.${key}`, compiled.message);
    return { regexp: compiled.ok ? compiled.regexp : undefined, check };
  });
  return (one, path, run) => {
    if (!isObject(one)) return;
    const keys = keysOf(one, run);
    if (!spendOnParts(run, PER_PATTERN * keys.length * patterns.length)) return;
    for (const key of keys) for (const { regexp, check } of patterns) if (regexp?.test(key)) check(one[key], `${path}.${key}`, run);
  };
};

const additionalProperties: Keyword = (value, schema, where, scope, depth) => {
  const named = new Set(isObject(schema.properties) ? Object.keys(schema.properties) : []);
  const patterns = (isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [])
    .map((key) => compilePattern(key))
    .flatMap((compiled) => (compiled.ok ? [compiled.regexp] : []));
  const check = scope.compile(value, where, depth);
  return (one, path, run) => {
    if (!isObject(one)) return;
    const keys = keysOf(one, run);
    if (!spendOnParts(run, keys.length * (1 + PER_PATTERN * patterns.length))) return;
    for (const key of keys) {
      if (!named.has(key) && !patterns.some((regexp) => regexp.test(key))) check(one[key], `${path}.${key}`, run);
    }
  };
};

const propertyNames: Keyword = (value, _schema, where, scope, depth) => {
  const check = scope.compile(value, where, depth);
  return (one, path, run) => {
    if (!isObject(one)) return;
    const keys = keysOf(one, run);
    if (!spendOnParts(run, keys.length)) return;
    for (const key of keys) if (!passes(check, key, path, run)) fail(run, `${path}.${key}`, 'is no allowed name');
  };
};

const required: Keyword = (value, _schema, where, scope) => {
  const names = nameList(value, where, scope);
  return (one, path, run) => {
    if (!isObject(one)) return;
    for (const name of names) if (!Object.hasOwn(one, name)) fail(run, `${path}.${name}`, 'is required');
  };
};

function onCount(test: (count: number, bound: number) => boolean, words: string): Keyword {
  return (value, _schema, where, scope) => {
    if (!wholeNumber(value, where, scope)) return undefined;
    const message = `must have ${words} ${value} properties`;
    return (one, path, run) => void (!isObject(one) || test(keysOf(one, run).length, value) || fail(run, path, message));
  };
}

const dependentRequired: Keyword = (value, _schema, where, scope) => {
  if (!isObject(value)) {
    scope.fault(where, 'must be an object');
    return undefined;
  }
  const entries = Object.keys(value).map((key) => [key, nameList(value[key], `${where}.${key}`, scope)] as const);
  return (one, path, run) => {
    if (!isObject(one)) return;
    for (const [key, names] of entries) {
      if (!Object.hasOwn(one, key)) continue;
      for (const name of names) if (!Object.hasOwn(one, name)) fail(run, `${path}.${name}`, `is required beside ${key}`);
    }
  };
};

const dependentSchemas: Keyword = (value, _schema, where, scope, depth) => {
  const checks = schemaMap(value, where, scope, depth);
  if (checks === undefined) return undefined;
  return (one, path, run) => {
    if (!isObject(one)) return;
    for (const [key, check] of checks) if (Object.hasOwn(one, key)) check(one, path, run);
  };
};

/** Draft 7 combines two keywords here: the value is a list of names or a schema. */
const dependencies: Keyword = (value, schema, where, scope, depth) => {
  if (!isObject(value)) {
    scope.fault(where, 'must be an object');
    return undefined;
  }
  const split = (wanted: boolean) => Object.fromEntries(Object.entries(value).filter(([, one]) => Array.isArray(one) === wanted));
  const lists = dependentRequired(split(true), schema, where, scope, depth);
  const schemas = dependentSchemas(split(false), schema, where, scope, depth);
  return (one, path, run) => {
    lists?.(one, path, run);
    schemas?.(one, path, run);
  };
};

function schemaMap(value: unknown, where: string, scope: SchemaScope, depth: number): [string, Check][] | undefined {
  if (!isObject(value)) {
    scope.fault(where, 'must be an object of schemas');
    return undefined;
  }
  return Object.keys(value).map((key) => [key, scope.compile(value[key], `${where}.${key}`, depth)]);
}

function nameList(value: unknown, where: string, scope: SchemaScope): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  scope.fault(where, 'must be a list of names');
  return [];
}

export const objectKeywords: Readonly<Record<string, Keyword>> = {
  properties,
  patternProperties,
  additionalProperties,
  propertyNames,
  required,
  minProperties: onCount((count, bound) => count >= bound, 'at least'),
  maxProperties: onCount((count, bound) => count <= bound, 'at most'),
  dependentRequired,
  dependentSchemas,
  dependencies,
};
