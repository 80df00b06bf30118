import { isObject, put } from '../json.ts';
import { defineTransform } from './define.ts';
import { ga4NameOf } from './ga4-name.ts';
import { asNumber } from './values.ts';

const MAX_PARAMS = 25;
const MAX_VALUE = 100;

export const ga4Params = defineTransform({
  name: 'ga4_params',
  summary:
    'The single values of an object as Google Analytics 4 event parameters: valid names, texts of at most 100 characters, at most 25 of them.',
  args: [{ name: 'most', type: 'number', default: MAX_PARAMS, summary: 'how many there may be, where others are added' }],
  examples: [
    [
      { 'Plan Name': 'pro', total: 3, nested: { a: 1 }, list: [1], none: null },
      { Plan_Name: 'pro', total: 3 },
    ],
    [{ a: 1, b: 2, c: 3 }, { a: 1, b: 2 }, 2],
    ['x', undefined],
  ],
  apply(value, [most]) {
    if (!isObject(value)) return undefined;
    const out: Record<string, unknown> = {};
    let room = asNumber(most) ?? MAX_PARAMS;
    for (const key of Object.keys(value)) {
      const inner = value[key];
      const name = ga4NameOf(key, 40);
      if (room <= 0 || name === undefined || !isSingle(inner)) continue;
      put(out, name, typeof inner === 'string' ? inner.slice(0, MAX_VALUE) : inner);
      room -= 1;
    }
    return out;
  },
});

function isSingle(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
