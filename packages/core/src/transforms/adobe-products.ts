import { isObject, own } from '../json.ts';
import { defineTransform } from './define.ts';
import { asNumber, textOf, tidy } from './values.ts';

export const adobeProducts = defineTransform({
  name: 'adobe_products',
  summary:
    'Products as the text of Adobe Analytics, `category;product;quantity;total` for each, joined by commas. The total is price × quantity. A product is named by product_id, sku or name; without one it is left out.',
  takes: 'list',
  examples: [
    [
      [
        { product_id: 'p-1', category: 'Drinks', price: 10, quantity: 2 },
        { sku: 'S2', price: '22.50' },
      ],
      'Drinks;p-1;2;20,;S2;1;22.5',
    ],
    [{ name: 'Tea, green; loose' }, ';Tea green loose;1;'],
    [[{ price: 1 }], undefined],
    ['x', undefined],
  ],
  apply(value) {
    const products = (Array.isArray(value) ? value : [value]).map(productText).filter((text) => text !== undefined);
    return products.length === 0 ? undefined : products.join(',');
  },
});

function productText(product: unknown): string | undefined {
  if (!isObject(product)) return undefined;
  const text = (name: string) => textOf(own(product, name))?.replace(/[;,|]/g, '').trim() ?? '';
  const id = text('product_id') || text('sku') || text('name');
  if (id === '') return undefined;
  const quantity = asNumber(own(product, 'quantity')) ?? 1;
  const price = asNumber(own(product, 'price'));
  return [text('category'), id, quantity, price === undefined ? '' : tidy(price * quantity)].join(';');
}
