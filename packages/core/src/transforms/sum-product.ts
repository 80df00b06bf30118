import { isObject, own } from '../json.ts';
import { defineTransform } from './define.ts';
import { asNumber, textOf, tidy } from './values.ts';

export const sumProduct = defineTransform({
  name: 'sum_product',
  summary:
    'The total of a list of objects: the named fields of each are multiplied, then added up (price × quantity). Elements without the first field do not count; other missing fields are 1.',
  takes: 'list',
  args: [{ name: 'fields', type: 'string', rest: true, summary: 'names of the fields to multiply' }],
  cost: { character: 0 },
  examples: [
    [[{ price: 10, quantity: 2 }, { price: '22.50' }, { quantity: 3 }], 42.5, 'price', 'quantity'],
    [[{ price: 0.1 }, { price: 0.2 }], 0.3, 'price'],
    [[{}], undefined, 'price'],
    ['x', undefined, 'price'],
  ],
  apply(value, fields) {
    if (!Array.isArray(value)) return undefined;
    let total: number | undefined;
    for (const element of value) {
      const product = productOf(element, fields);
      if (product !== undefined) total = (total ?? 0) + product;
    }
    return total === undefined ? undefined : tidy(total);
  },
});

/** The product of an element's fields. Missing fields are 1, except the first. */
export function productOf(element: unknown, [first, ...others]: readonly unknown[]): number | undefined {
  const base = numberIn(element, first);
  return base === undefined ? undefined : others.reduce<number>((product, name) => product * (numberIn(element, name) ?? 1), base);
}

function numberIn(element: unknown, name: unknown): number | undefined {
  const key = textOf(name);
  return isObject(element) && key !== undefined ? asNumber(own(element, key)) : undefined;
}
