/**
 * Throughput of the mapping engine: a GA4 purchase with five items through the compiled mapping, through Segment's mapping kit, and
 * through the same mapping written by hand. The three results are compared before anything is timed.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { compileMapping } from '@firsthand/core/mapping/mapping.ts';
import type { BenchResult } from './result.ts';

// Only its CommonJS build loads in Node.
const { transform } = createRequire(import.meta.url)('@segment/actions-core/mapping-kit') as {
  transform(mapping: object, data: object): unknown;
};

const ITEM_FIELDS = {
  item_id: 'product_id',
  item_name: 'name',
  affiliation: 'affiliation',
  coupon: 'coupon',
  item_brand: 'brand',
  item_category: 'category',
  item_variant: 'variant',
  price: 'price',
  quantity: 'quantity',
};
const PARAM_FIELDS = {
  transaction_id: 'order_id',
  affiliation: 'affiliation',
  value: 'total',
  tax: 'tax',
  shipping: 'shipping',
  currency: 'currency',
  coupon: 'coupon',
};

const CONFIG = {
  global: {
    mappings: [
      { source: 'anonymous_id', target: 'client_id' },
      { source: 'user_id', target: 'user_id' },
    ],
  },
  events: {
    'Order Completed': {
      vendor_event_name: 'purchase',
      mappings: [
        { value: 'purchase', target: 'events[0].name' },
        ...Object.entries(PARAM_FIELDS).map(([to, from]) => ({ source: `properties.${from}`, target: `events[0].params.${to}` })),
        { source: 'context.page.url', target: 'events[0].params.page_location' },
        { value: 1, target: 'events[0].params.engagement_time_msec' },
        ...Object.entries(ITEM_FIELDS).map(([to, from]) => ({
          source: `properties.products[*].${from}`,
          target: `events[0].params.items[*].${to}`,
        })),
      ],
    },
  },
  defaults: { action: 'drop' },
};

const path = (text: string) => ({ '@path': `$.${text}` });
const SEGMENT = {
  client_id: path('anonymous_id'),
  user_id: path('user_id'),
  events: [
    {
      name: 'purchase',
      params: {
        ...Object.fromEntries(Object.entries(PARAM_FIELDS).map(([to, from]) => [to, path(`properties.${from}`)])),
        page_location: path('context.page.url'),
        engagement_time_msec: 1,
        items: {
          '@arrayPath': ['$.properties.products', Object.fromEntries(Object.entries(ITEM_FIELDS).map(([to, from]) => [to, path(from)]))],
        },
      },
    },
  ],
};

interface Product {
  product_id?: string;
  name?: string;
  affiliation?: string;
  coupon?: string;
  brand?: string;
  category?: string;
  variant?: string;
  price?: number;
  quantity?: number;
}
interface Properties {
  order_id?: string;
  affiliation?: string;
  total?: number;
  tax?: number;
  shipping?: number;
  currency?: string;
  coupon?: string;
  products?: Product[];
}

/** The mapping written by hand. Every field may be missing; a missing field is left out. */
function byHand(event: CanonicalEvent): unknown {
  const properties = (event.properties ?? {}) as Properties;
  const page = event.context.page as { url?: string } | undefined;
  const items = properties.products?.map((product) => {
    const item: Record<string, unknown> = {};
    if (product.product_id !== undefined) item.item_id = product.product_id;
    if (product.name !== undefined) item.item_name = product.name;
    if (product.affiliation !== undefined) item.affiliation = product.affiliation;
    if (product.coupon !== undefined) item.coupon = product.coupon;
    if (product.brand !== undefined) item.item_brand = product.brand;
    if (product.category !== undefined) item.item_category = product.category;
    if (product.variant !== undefined) item.item_variant = product.variant;
    if (product.price !== undefined) item.price = product.price;
    if (product.quantity !== undefined) item.quantity = product.quantity;
    return item;
  });
  const params: Record<string, unknown> = {};
  if (properties.order_id !== undefined) params.transaction_id = properties.order_id;
  if (properties.affiliation !== undefined) params.affiliation = properties.affiliation;
  if (properties.total !== undefined) params.value = properties.total;
  if (properties.tax !== undefined) params.tax = properties.tax;
  if (properties.shipping !== undefined) params.shipping = properties.shipping;
  if (properties.currency !== undefined) params.currency = properties.currency;
  if (properties.coupon !== undefined) params.coupon = properties.coupon;
  if (page?.url !== undefined) params.page_location = page.url;
  params.engagement_time_msec = 1;
  if (items) params.items = items;
  const payload: Record<string, unknown> = {};
  if (event.anonymous_id !== undefined) payload.client_id = event.anonymous_id;
  if (event.user_id !== undefined) payload.user_id = event.user_id;
  payload.events = [{ name: 'purchase', params }];
  return payload;
}

/** Parsed from text, like real events: object literals would all share one hidden class. */
function events(count: number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, n) =>
    JSON.parse(
      JSON.stringify({
        event_id: `evt-${n}`,
        type: 'track',
        event: 'Order Completed',
        anonymous_id: `${n}.1700000000`,
        user_id: `user-${n}`,
        timestamp: '2024-05-01T12:00:00.000Z',
        context: { ip: '203.0.113.7', locale: 'de-DE', page: { url: 'https://shop.example/checkout/done', title: 'Thanks' } },
        properties: {
          order_id: `order-${n}`,
          affiliation: 'Web shop',
          total: 129.9 + n,
          tax: 20.74,
          shipping: 4.9,
          currency: 'EUR',
          coupon: 'SUMMER',
          products: Array.from({ length: 5 }, (__, i) => ({
            product_id: `sku-${n}-${i}`,
            name: `Product ${i}`,
            affiliation: 'Web shop',
            coupon: 'ITEM',
            brand: 'Acme',
            category: 'Shoes',
            variant: 'blue',
            price: 19.9 + i,
            quantity: 1 + i,
          })),
        },
      }),
    ),
  );
}

/** Events per second in the best of several rounds: other load on the machine can only slow a round down. */
function rate(map: (event: CanonicalEvent) => unknown, input: CanonicalEvent[], round_ms: number): () => number {
  let best = 0;
  return () => {
    const end = performance.now() + round_ms;
    const start = performance.now();
    let done = 0;
    let now = start;
    while (now < end) {
      for (const event of input) map(event);
      done += input.length;
      now = performance.now();
    }
    best = Math.max(best, done / ((now - start) / 1000));
    return best;
  };
}

export async function run(): Promise<BenchResult[]> {
  const compiled = compileMapping(CONFIG);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const input = events(64);
  // As in delivery, which knows the size of the stored event: without it the mapping measures the event itself.
  const running = { now: 0, bytes: JSON.stringify(input[0]).length };
  const engine = (event: CanonicalEvent) => (compiled.run(event, running) as { payload: unknown }).payload;
  const segment = (event: CanonicalEvent) => transform(SEGMENT, event);
  for (const event of input) {
    deepStrictEqual(engine(event), byHand(event));
    deepStrictEqual(JSON.parse(JSON.stringify(segment(event))), byHand(event));
  }
  const contestants = [rate(engine, input, 250), rate(segment, input, 250), rate(byHand, input, 250)] as const;
  // Alternating rounds, so that a slow moment of the machine affects all three.
  let rates = contestants.map((measure) => measure());
  for (let round = 1; round < 8; round++) rates = contestants.map((measure) => measure());
  const [engineRate, segmentRate, handRate] = rates as [number, number, number];
  return [
    { name: 'mapping: GA4 purchase, five items', value: Math.round(engineRate), unit: 'events/s' },
    { name: "mapping: the same in Segment's mapping kit", value: Math.round(segmentRate), unit: 'events/s' },
    { name: 'mapping: the same by hand', value: Math.round(handRate), unit: 'events/s' },
    floored("mapping: engine against Segment's mapping kit", engineRate / segmentRate, 25),
    floored('mapping: engine against hand-written code', engineRate / handRate, 0.12),
  ];
}

function floored(name: string, value: number, floor: number): BenchResult {
  return { name, value: Number(value.toFixed(3)), unit: '×', floor, ok: value >= floor };
}

if (import.meta.main) {
  for (const result of await run()) {
    const verdict = result.floor === undefined ? '' : `  (at least ${result.floor}: ${result.ok ? 'yes' : 'NO'})`;
    console.log(`${result.name}: ${result.value} ${result.unit}${verdict}`);
  }
}
