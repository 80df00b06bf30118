import { isObject, put } from '../json.ts';
import { MAX_TEXT } from '../value-size.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const prefixKeys = defineTransform({
  name: 'prefix_keys',
  summary: 'An object with a text before each of its names.',
  args: [{ name: 'text', type: 'string', summary: 'what goes before' }],
  cost: { character: 0 },
  examples: [
    [{ plan: 'pro', seats: 5 }, { x_plan: 'pro', x_seats: 5 }, 'x_'],
    ['x', undefined, 'x_'],
  ],
  apply(value, [text]) {
    if (!isObject(value)) return undefined;
    const before = textOf(text) ?? '';
    if (before.length * Object.keys(value).length > MAX_TEXT) return undefined;
    const out: Record<string, unknown> = {};
    for (const key of Object.keys(value)) put(out, `${before}${key}`, value[key]);
    return out;
  },
});
