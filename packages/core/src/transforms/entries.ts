import { isObject, put } from '../json.ts';
import { MAX_TEXT } from '../value-size.ts';
import { defineTransform } from './define.ts';
import { isPresent, textOf } from './values.ts';

export const entries = defineTransform({
  name: 'entries',
  summary: 'An object as a list of pairs, under two names of your choice. Nested values are left out.',
  args: [
    { name: 'name', type: 'string', default: 'name', summary: 'key of the name' },
    { name: 'value', type: 'string', default: 'value', summary: 'key of the value' },
  ],
  cost: { character: 0 },
  examples: [
    [
      { a: 1, b: 'x', c: null, d: {} },
      [
        { name: 'a', value: 1 },
        { name: 'b', value: 'x' },
      ],
    ],
    [{ a: 1 }, [{ key: 'a', text: 1 }], 'key', 'text'],
    ['x', undefined],
  ],
  apply(value, [name, inner]) {
    if (!isObject(value)) return undefined;
    const [nameKey, valueKey] = [textOf(name) ?? 'name', textOf(inner) ?? 'value'];
    if ((nameKey.length + valueKey.length) * Object.keys(value).length > MAX_TEXT) return undefined;
    return Object.entries(value)
      .filter(([, one]) => isPresent(one) && typeof one !== 'object')
      .map(([key, one]) => {
        const pair: Record<string, unknown> = {};
        put(pair, nameKey, key);
        put(pair, valueKey, one);
        return pair;
      });
  },
});
