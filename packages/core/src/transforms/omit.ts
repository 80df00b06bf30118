import { isObject } from '../json.ts';
import { put } from '../path/write.ts';
import { defineTransform } from './define.ts';

export const omit = defineTransform({
  name: 'omit',
  summary: 'An object without the named fields. If none is left there is no object.',
  args: [{ name: 'fields', type: 'string', rest: true, summary: 'names to leave out' }],
  examples: [
    [{ a: 1, b: 2, c: 3 }, { b: 2 }, 'a', 'c'],
    [{ a: 1 }, undefined, 'a'],
    ['x', undefined, 'a'],
  ],
  apply(value, names) {
    if (!isObject(value)) return undefined;
    const out: Record<string, unknown> = {};
    for (const key of Object.keys(value)) if (!names.includes(key)) put(out, key, value[key]);
    return Object.keys(out).length === 0 ? undefined : out;
  },
});
