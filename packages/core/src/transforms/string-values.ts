import { isObject, put } from '../json.ts';
import { defineTransform } from './define.ts';
import { writeJson } from './json-stringify.ts';
import { isPresent, textOf } from './values.ts';

export const stringValues = defineTransform({
  name: 'string_values',
  summary: 'An object whose values are all texts: numbers and booleans as text, nested values as JSON.',
  cost: { character: 2 },
  examples: [
    [
      { a: 1, b: true, c: 'x', d: { e: 1 }, f: null },
      { a: '1', b: 'true', c: 'x', d: '{"e":1}' },
    ],
    ['x', undefined],
  ],
  apply(value) {
    if (!isObject(value)) return undefined;
    const out: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      const text = isPresent(inner) ? (textOf(inner) ?? writeJson(inner)) : undefined;
      if (text !== undefined) put(out, key, text);
    }
    return out;
  },
});
