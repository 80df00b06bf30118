import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';

const VISITORS = 20_000;

/** An order of about a kilobyte. `properties.n` counts the events of its visitor. */
export function orderAt(index: number): CanonicalEvent {
  return {
    event_id: `evt-${index}`,
    type: 'track',
    event: 'Order Completed',
    anonymous_id: `visitor-${index % VISITORS}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
    context: {
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
      page: { url: 'https://shop.example.com/checkout/complete?step=3', title: 'Thank you', referrer: 'https://shop.example.com/' },
    },
    properties: {
      n: Math.floor(index / VISITORS),
      order_id: `order-${index}`,
      total: 42.5,
      products: Array.from({ length: 4 }, (_, i) => ({
        product_id: `p-${i}`,
        sku: `TEA-0${i}`,
        name: 'Green tea, loose',
        price: 12.5,
        quantity: 2,
      })),
    },
  };
}
