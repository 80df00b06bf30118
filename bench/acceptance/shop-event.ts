import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { anEvent } from '@firsthand/server/roles/deliver/testing/bench.ts';

/** About 600 bytes, typical of a shop. */
export function shopEvent(number: number): CanonicalEvent {
  return anEvent(`0190a0b0-0000-7000-8000-${String(number).padStart(12, '0')}`, {
    anonymous_id: '5f0c8c1e-7b1e-4f0e-9a51-0d7f7d1f6f11',
    user_id: `user-${number % 1_000}`,
    context: {
      page: { url: 'https://shop.example/checkout/thanks', title: 'Thank you', referrer: 'https://shop.example/checkout' },
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
      locale: 'en-GB',
    },
    properties: { order_id: `o-${number}`, total: 42.5, currency: 'EUR', products: [{ product_id: 'p1', price: 42.5, quantity: 1 }] },
  });
}
