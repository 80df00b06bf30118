import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';

/** An event of about a kilobyte. */
export function orderAt(index: number): CanonicalEvent {
  return {
    event_id: `evt-${index}`,
    type: 'track',
    event: 'Order Completed',
    user_id: `user-${index % 10_000}`,
    anonymous_id: `visitor-${index % 50_000}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
    context: {
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
      locale: 'en-GB',
      page: {
        url: 'https://shop.example.com/checkout/complete?step=3',
        path: '/checkout/complete',
        title: 'Thank you',
        referrer: 'https://shop.example.com/checkout',
      },
      consent: { canonical: { analytics: true, marketing: false, functional: true } },
    },
    properties: {
      order_id: `order-${index}`,
      total: 42.5 + (index % 100),
      currency: 'EUR',
      coupon: 'AUTUMN',
      products: [
        { product_id: 'p-1', sku: 'TEA-01', name: 'Green tea', price: 12.5, quantity: 2 },
        { product_id: 'p-2', sku: 'CUP-07', name: 'Cup', price: 17.5, quantity: 1 },
      ],
    },
  };
}
