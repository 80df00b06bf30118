/** Products and order values, described once and adapted to a vendor's names. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { from, type Rest, type Transform, use } from './mapping.ts';
import * as source from './sources.ts';
import { product } from './sources.ts';

/** The vendor's name of each product field. A field without a name is not sent. */
export interface ProductNames {
  id?: string;
  name?: string;
  brand?: string;
  category?: string;
  variant?: string;
  price?: string;
  quantity?: string;
  coupon?: string;
  discount?: string;
  position?: string;
  url?: string;
  image?: string;
}
export interface ProductStyle {
  /** Write 1 where a product has no quantity. */
  default_quantity?: boolean;
  /** Steps after `to_number`, such as `to_string` for vendors that take prices as texts. */
  price?: Transform[];
  /** The same for quantities. */
  quantity?: Transform[];
}

type Key = keyof ProductNames;
const SOURCES: Record<Key, string[]> = {
  id: ['product_id', 'sku'],
  name: ['name', 'product_name'],
  brand: ['brand'],
  category: ['category', 'product_category'],
  variant: ['variant'],
  price: ['price'],
  quantity: ['quantity'],
  coupon: ['coupon'],
  discount: ['discount'],
  position: ['position'],
  url: ['url'],
  image: ['image_url'],
};

function lines(
  names: ProductNames,
  style: ProductStyle,
  sourcesOf: (fields: string[]) => string[],
  target: string,
  rest: Rest,
): JsonObject[] {
  return Object.entries(SOURCES).flatMap(([key, fields]) => {
    const name = names[key as Key];
    if (name === undefined) return [];
    const sources = sourcesOf(fields);
    const to = `${target}.${name}`;
    if (key === 'id') return [from(sources, to, ['to_string'])];
    if (key === 'price') return [from(sources, to, ['to_number', ...(style.price ?? [])], rest)];
    if (key === 'discount') return [from(sources, to, ['to_number', ...(style.price ?? [])], rest)];
    if (key === 'quantity') {
      const one = style.quantity?.includes('to_string') ? '1' : 1;
      return [
        from(sources, to, ['to_integer', ...(style.quantity ?? [])], { ...rest, ...(style.default_quantity ? { default: one } : {}) }),
      ];
    }
    if (key === 'position') return [from(sources, to, ['to_integer'], rest)];
    // A size, a year or the number of a category too: vendors take these as texts only.
    return [from(sources, to, ['to_string'], rest)];
  });
}

/** An amount without its sign: shops write refunds and discounts with a minus or without one. */
export const WITHOUT_SIGN: Transform[] = ['to_string', use('replace', '^-'), 'to_number'];
/** The amount of a refund as something to add up with those of orders. */
export const NEGATIVE: Transform[] = [...WITHOUT_SIGN, use('multiply', -1)];

/** `properties.products` as the list `target[*]`. Add `compact` to the definition to remove products without an id. */
export function productList(target: string, names: ProductNames, style: ProductStyle = {}): JsonObject[] {
  return lines(names, style, (fields) => product(...fields), `${target}[*]`, {});
}

/** At least one product of an order has a price. */
export const HAS_PRICES = { field: 'properties.products[*].price', op: 'exists' };
/** The products of an order whose amount they make up. Without a price the amount is that of the order. */
export const pricedProducts = (target: string, names: ProductNames): JsonObject[] =>
  productList(target, names, { default_quantity: true }).map((line) => ({ ...line, when: HAS_PRICES }));

/** The single product in the event's own properties as `target[0]`, only if it has an id. */
export function singleProduct(target: string, names: ProductNames, style: ProductStyle = {}): JsonObject[] {
  return lines(names, style, (fields) => fields.map((name) => `properties.${name}`), `${target}[0]`, { when: source.HAS_PRODUCT });
}

/** How many items: the sum of the quantities of all products that are sent, where a missing one counts as 1. */
export function itemCount(target: string, ids = ['product_id', 'sku']): JsonObject {
  return from('properties.products', target, [use('item_count', ...ids)]);
}

/**
 * The value of an order: `value`, `total` or `revenue`, otherwise Σ price × quantity of its products. Several lines with one target: the
 * last one with a value counts.
 */
export function orderTotal(target: string, rest: Rest = {}, sources: string[] = source.VALUE, then: Transform[] = []): JsonObject[] {
  return [
    from('properties.products', target, [use('sum_product', 'price', 'quantity'), ...then], rest),
    from(sources, target, ['to_number', ...then], rest),
  ];
}

/** Value and currency under one object; required if the vendor rejects an order without them. */
export function orderValue(object: string, rest: Rest = {}, names = { value: 'value', currency: 'currency' }): JsonObject[] {
  return [
    ...orderTotal(`${object}.${names.value}`, rest),
    from('properties.currency', `${object}.${names.currency}`, ['currency_code'], rest),
  ];
}

/** Tax and shipping of an order, where a vendor has them beside its value. */
export function orderCosts(object: string, names = { tax: 'tax', shipping: 'shipping' }): JsonObject[] {
  return [
    from('properties.tax', `${object}.${names.tax}`, ['to_number']),
    from('properties.shipping', `${object}.${names.shipping}`, ['to_number']),
  ];
}

/** The value of one product: the event's own value, otherwise price × quantity, otherwise the price. */
export function unitValue(target: string, then: Transform[] = []): JsonObject[] {
  return [
    from('properties.price', target, ['to_number', ...then]),
    from('properties.price', target, [use('multiply', { source: 'properties.quantity' }), ...then]),
    from('properties.value', target, ['to_number', ...then]),
  ];
}
