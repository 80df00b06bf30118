import { isObject, put } from '../json.ts';
import { defineTransform } from './define.ts';

export const pick = defineTransform({
  name: 'pick',
  summary: 'An object with only the named fields.',
  args: [{ name: 'fields', type: 'string', rest: true, summary: 'names to keep' }],
  cost: { character: 0 },
  examples: [
    [{ a: 1, b: 2, c: 3 }, { a: 1, c: 3 }, 'a', 'c'],
    ['x', undefined, 'a'],
  ],
  apply(value, names) {
    if (!isObject(value)) return undefined;
    const out: Record<string, unknown> = {};
    for (const name of names) if (typeof name === 'string' && Object.hasOwn(value, name)) put(out, name, value[name]);
    return out;
  },
});
