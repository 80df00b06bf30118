import { type Check, fail, type Keyword, passes, type SchemaScope } from './run.ts';

const allOf: Keyword = (value, _schema, where, scope, depth) => {
  const checks = schemaList(value, where, scope, depth);
  return (one, path, run) => {
    for (const check of checks) check(one, path, run);
  };
};

const anyOf: Keyword = (value, _schema, where, scope, depth) => {
  const checks = schemaList(value, where, scope, depth);
  return (one, path, run) => {
    if (!checks.some((check) => passes(check, one, path, run))) fail(run, path, 'must match one of several schemas and matches none');
  };
};

const oneOf: Keyword = (value, _schema, where, scope, depth) => {
  const checks = schemaList(value, where, scope, depth);
  return (one, path, run) => {
    let count = 0;
    for (const check of checks) if (passes(check, one, path, run)) count += 1;
    if (count !== 1) fail(run, path, `must match exactly one of several schemas and matches ${count === 0 ? 'none' : count}`);
  };
};

const not: Keyword = (value, _schema, where, scope, depth) => {
  const check = scope.compile(value, where, depth);
  return (one, path, run) => {
    if (passes(check, one, path, run)) fail(run, path, 'must not match the excluded schema');
  };
};

const condition: Keyword = (value, schema, where, scope, depth) => {
  const test = scope.compile(value, where, depth);
  const branch = (key: 'then' | 'else'): Check | undefined =>
    schema[key] === undefined ? undefined : scope.compile(schema[key], `${where.slice(0, -2)}${key}`, depth);
  const yes = branch('then');
  const no = branch('else');
  return (one, path, run) => (passes(test, one, path, run) ? yes : no)?.(one, path, run);
};

function schemaList(value: unknown, where: string, scope: SchemaScope, depth: number): Check[] {
  if (Array.isArray(value) && value.length > 0) return value.map((one, i) => scope.compile(one, `${where}[${i}]`, depth));
  scope.fault(where, 'must be a list of schemas');
  return [];
}

export const combiningKeywords: Readonly<Record<string, Keyword>> = { allOf, anyOf, oneOf, not, if: condition };
