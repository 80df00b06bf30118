import { isObject } from '../json.ts';
import { defineTransform } from './define.ts';
import { asNumber, textOf } from './values.ts';

export const itemCount = defineTransform({
  name: 'item_count',
  summary:
    'How many items a list of products has: the sum of their `quantity`, where a missing one is 1. A product without any of the named fields does not count. Without a product there is no count.',
  takes: 'list',
  args: [{ name: 'ids', type: 'string', rest: true, summary: 'names of the fields, one of which a product must have' }],
  cost: { character: 0 },
  examples: [
    [[{ product_id: 'p-1', quantity: 2 }, { sku: 'S2' }], 3, 'product_id', 'sku'],
    [[{ product_id: 'p-1', quantity: '2' }, { name: 'no id', quantity: 5 }, 'broken', null], 2, 'product_id', 'sku'],
    [[{ sku: 'S1', quantity: 2 }, { sku: 'S2', quantity: 'x' }, { sku: '' }], 3, 'sku'],
    [[{ name: 'no id' }], undefined, 'product_id'],
    ['x', undefined, 'product_id'],
  ],
  apply(value, ids) {
    if (!Array.isArray(value)) return undefined;
    const names = ids.map((name) => textOf(name) ?? '');
    let total: number | undefined;
    for (const one of value)
      if (isObject(one) && names.some((name) => textOf(one[name]))) total = (total ?? 0) + Math.trunc(asNumber(one.quantity) ?? 1);
    return total;
  },
});
