/** The lines of every kind of event, for vendors with one list of products and one value. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { itemCount, orderTotal, type ProductNames, type ProductStyle, productList, singleProduct, unitValue } from './commerce.ts';
import { from, type Rest, type Transform } from './mapping.ts';
import * as source from './sources.ts';
import type { EventKind } from './standard-events.ts';

/** Targets in the vendor's payload. What has no target is not sent. */
export interface AdTargets {
  /** The list of products, and its fields. */
  products?: { at: string; names: ProductNames; style?: ProductStyle };
  /** A list of product ids. */
  ids?: string;
  /** How many items. */
  count?: string;
  value?: string;
  currency?: string;
  /** Steps after the number of a value. */
  value_steps?: Transform[];
  /** A condition of the value, such as a currency. */
  value_when?: JsonObject;
  /** Purchases without value and currency are dropped. */
  value_required?: boolean;
  order_id?: string;
  /** What was searched. */
  query?: string;
  /** Name and category of a product or an article. */
  name?: string;
  category?: string;
  /** Dates, places and travellers of a trip. */
  trip?: JsonObject[];
}

const line = (sources: string | string[], target: string | undefined, transforms: Transform[] = [], rest: Rest = {}): JsonObject[] =>
  target === undefined ? [] : [from(sources, target, transforms, rest)];

export function adLines(to: AdTargets): Record<EventKind, JsonObject[]> {
  const { products: at, value_steps: steps = [], trip = [] } = to;
  const when: Rest = to.value_when === undefined ? {} : { when: to.value_when };
  const currency = (rest: Rest) => line('properties.currency', to.currency, ['currency_code'], rest);
  const value = (rest: Rest = {}) => [
    ...(to.value === undefined ? [] : orderTotal(to.value, { ...rest, ...when }, source.VALUE, steps)),
    ...currency(rest),
  ];
  const products = [
    ...(at ? productList(at.at, at.names, at.style) : []),
    ...line(source.productIds, to.ids, ['trim']),
    ...(to.count === undefined ? [] : [itemCount(to.count)]),
  ];
  const product = [
    ...(at ? singleProduct(at.at, at.names, at.style) : []),
    ...line(source.productId, to.ids === undefined ? undefined : `${to.ids}[0]`, ['trim']),
    ...line(source.productName, to.name, ['to_string']),
    ...line(source.CATEGORY, to.category, ['to_string']),
    ...(to.value === undefined ? [] : unitValue(to.value, steps).map((one) => ({ ...one, ...when }) as JsonObject)),
    ...currency({}),
  ];
  const content = [
    ...line(source.CONTENT_ID, to.ids === undefined ? undefined : `${to.ids}[0]`, ['to_string']),
    ...line(source.CONTENT_NAME, to.name, ['to_string']),
    ...line(['properties.section', 'properties.category', 'properties.genre'], to.category, ['to_string']),
  ];
  const orderId = line(source.ORDER_ID, to.order_id, ['to_string']);
  const order = [...orderId, ...products, ...value()];
  const purchase = [...orderId, ...products, ...value(to.value_required ? { required: true } : {})];
  const query = line(['properties.query', 'properties.destination', 'properties.city'], to.query, ['to_string']);
  const list = [...line('properties.list_name', to.name, ['to_string']), ...line(source.CATEGORY, to.category, ['to_string']), ...products];
  return {
    search: [...query, ...products],
    list,
    promotion: line('properties.name', to.name, ['to_string']),
    product,
    products,
    cart: [...products, ...value()],
    step: [],
    order,
    purchase,
    refund: order,
    coupon: [],
    registration: value(),
    login: [],
    lead: value(),
    trip_search: [...query, ...trip],
    trip_offer: [...product, ...trip],
    trip_order: [...order, ...trip],
    booking: [...purchase, ...trip],
    content,
    video: content,
    subscription: [...orderId, ...value()],
    trial: value(),
    feature: line('properties.name', to.name, ['to_string']),
  };
}
