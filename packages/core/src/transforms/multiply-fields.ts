import { defineTransform } from './define.ts';
import { productOf } from './sum-product.ts';
import { tidy } from './values.ts';

export const multiplyFields = defineTransform({
  name: 'multiply_fields',
  summary:
    'The product of the named fields of each element of a list (price × quantity of each line). An element without the first field is missing; other missing fields are 1.',
  takes: 'list',
  args: [{ name: 'fields', type: 'string', rest: true, summary: 'names of the fields to multiply' }],
  cost: { character: 0 },
  examples: [
    [[{ price: 10, quantity: 2 }, { price: '22.50' }], [20, 22.5], 'price', 'quantity'],
    ['x', undefined, 'price'],
  ],
  apply(value, fields) {
    if (!Array.isArray(value)) return undefined;
    return value.map((element) => {
      const product = productOf(element, fields);
      return product === undefined ? undefined : tidy(product);
    });
  },
});
