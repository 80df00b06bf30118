import { isObject, put } from '../json.ts';
import { defineTransform } from './define.ts';

export const omit = defineTransform({
  name: 'omit',
  summary: 'An object without the named fields. If none is left there is no object.',
  args: [{ name: 'fields', type: 'string', rest: true, summary: 'names to leave out' }],
  cost: { character: 0 },
  examples: [
    [{ a: 1, b: 2, c: 3 }, { b: 2 }, 'a', 'c'],
    [{ a: 1 }, undefined, 'a'],
    ['x', undefined, 'a'],
  ],
  apply: (value, names) => without(value, new Set(names)),
  prepare(names) {
    const omitted = new Set(names);
    return { ok: true, apply: (value) => without(value, omitted) };
  },
});

function without(value: unknown, names: ReadonlySet<unknown>): Record<string, unknown> | undefined {
  if (!isObject(value)) return undefined;
  let out: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) if (!names.has(key)) put((out ??= {}), key, value[key]);
  return out;
}
