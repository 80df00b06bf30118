/** One visitor, Anna, and what she does. Hashes of her data are written out, so that a case shows exactly what leaves the house. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';

export const CONTEXT: JsonObject = {
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  locale: 'de-DE',
  page: { url: 'https://shop.example/checkout?x=1', title: 'Checkout', referrer: 'https://www.example.org/' },
  click_ids: { gclid: 'Cj0KCQ', fbclid: 'IwAR2F', ttclid: 'E.C.P' },
  vendor_ids: { fbp: 'fb.1.1700000000000.42', ga_client_id: '1234567890.1700000000', ga_session_id: '1767322800', ttp: 'ttp-1' },
  consent: { canonical: { essential: true, analytics: true, marketing: true } },
};
export const TRAITS: JsonObject = {
  email: ' Anna.Berg@Example.com ',
  phone: '+49 151 234-56789',
  first_name: 'Anna',
  last_name: 'Berg',
  address: { city: 'New York', state: 'New York', postal_code: '10001-1234', country: 'US' },
};
export const PRODUCTS: JsonObject[] = [
  { product_id: 'p-1', sku: 'S1', name: 'Tea', brand: 'Leaf', category: 'Drinks', variant: 'green', price: 10, quantity: 2, position: 1 },
  { sku: 'S2', name: 'Cup', price: '22.50' },
];

const base = (event_id: string): Pick<CanonicalEvent, 'event_id' | 'anonymous_id' | 'user_id' | 'timestamp' | 'context'> => ({
  event_id,
  anonymous_id: 'anon-1',
  user_id: 'user-1',
  timestamp: '2026-01-02T03:04:05.678Z',
  context: CONTEXT,
});

export function track(event: string, properties: JsonObject = {}, over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { ...base('evt-1'), type: 'track', event, properties, traits: TRAITS, ...over };
}
export function orderCompleted(properties: JsonObject = {}, over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return track(
    'Order Completed',
    {
      order_id: 'o-1',
      total: 42.5,
      revenue: 35,
      tax: 5,
      shipping: 2.5,
      currency: 'eur',
      coupon: 'TEA10',
      products: PRODUCTS,
      ...properties,
    },
    over,
  );
}
export function productViewed(over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return track('Product Viewed', { product_id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, currency: 'EUR' }, over);
}
export function pageViewed(over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { ...base('evt-2'), type: 'page', name: 'Home', properties: { path: '/' }, ...over };
}
export function identified(over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { ...base('evt-3'), type: 'identify', traits: TRAITS, ...over };
}
/** Traits as Segment's specification names them. */
export const camelNamed = (): CanonicalEvent =>
  identified({ traits: { email: 'anna.berg@example.com', firstName: 'Anna', lastName: 'Berg' }, context: {} });
export function grouped(over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { ...base('evt-4'), type: 'group', group_id: 'acme', traits: { name: 'Acme' }, ...over };
}
/** An event with the properties of every kind of event: for its name, not for its fields. */
export const everything = (event: string): CanonicalEvent =>
  orderCompleted(
    {
      ...PRODUCTS[0],
      ...{
        booking_id: 'b-1',
        cart_id: 'k-1',
        value: 42.5,
        query: 'tea',
        plan: 'pro',
        method: 'email',
        title: 'How to brew',
        content_id: 'c-1',
      },
    },
    { event },
  );
/** Events of a browser whose visitor is not known by name. */
export const visitOf =
  (context: JsonObject) =>
  (event: string, properties: JsonObject = {}): CanonicalEvent =>
    track(event, properties, { traits: {}, context });
/** A screen of an app with all that a visitor's memory adds: session, click ids, first campaign, group, consent. */
export const remembered = (): CanonicalEvent =>
  pageViewed({
    original_type: 'screen',
    name: 'Cart',
    context: {
      app: { namespace: 'com.shop', version: '2.1' },
      session: { id: 's-1', started_at: '2026-01-02T03:00:00.000Z', number: 2, event_index: 3, is_new: false },
      click_ids: { gclid: 'G1' },
      click_id_times: { gclid: '2026-01-01T00:00:00.000Z' },
      campaign_first: { source: 'ad' },
      group_id: 'acme',
      consent: { canonical: { essential: true, analytics: true, advertising: false } },
    },
  });
/** Nobody known: no ids, no traits, no context. */
export function bare(event: string, properties: JsonObject = {}): CanonicalEvent {
  return { event_id: 'evt-9', type: 'track', event, timestamp: '2026-01-02T03:04:05.678Z', context: {}, properties };
}

/** SHA-256 of the normalised values above. */
export const HASHED = {
  email: '21dbca49a5e22aea1c7aa41fa461c890ba15e8f895ea09c8a08a1962303e8df8', // anna.berg@example.com
  phone_digits: 'c0f8f0bebbbac96451ee8d8def84a02ae9e34c877775437cb9d458328315afa7', // 4915123456789
  phone: '663a4322addcdcc2be9435bfd2505066dc1048b89d33e48f363119f18bdd71e8', // +4915123456789
  first_name: '55579b557896d0ce1764c47fed644f9b35f58bad620674af23f356d80ed0c503', // anna
  last_name: 'd251835de0d6c81c80a9849686b0edf09ecbb253911f7abd1f921ebc7df8acf8', // berg
  city: '350c754ba4d38897693aa077ef43072a859d23f613443133fecbbd90a3512ca5', // newyork
  state: '1b06e2003f8420d6fa42badd8f77ec0f706b976b7a48b13c567dc5a559681683', // ny
  zip: 'e443169117a184f91186b401133b20be670c7c0896f9886075e5d9b81e9d076b', // 10001
  country: '79adb2a2fce5c6ba215fe5f27f532d4e7edbac4b6a5e09e1ef3a08084a904621', // us
  user_id: 'c6c289e49e9c05b2145860387b73bcb18df43fb09a1e4a4a9713c76c88bb541b', // user-1
  anonymous_id: '2e96105c29d2c92c48ffb367fa6e4b40db08207d649bcf83aa1cec30532a1e17', // anon-1
};

/** Hashes of the sample events' visitor and ids. */
export const VISITOR_SHA256 = '2e96105c29d2c92c48ffb367fa6e4b40db08207d649bcf83aa1cec30532a1e17';
export const ORDER_ID_SHA256 = '7b409f932d2c88e97f0c17676c8420d3ea0dab6edb150a89b5684a8ad6d6c4c7';
export const PAGE_ID_SHA256 = '5a84cd4af0ceafc23a427a7ea78d0f92e60995375fc3f8d52477c783f320ac87';
/** The same in lists, under the short names that Meta began with and others took over. */
export const HASHED_LISTS = {
  em: [HASHED.email],
  ph: [HASHED.phone_digits],
  fn: [HASHED.first_name],
  ln: [HASHED.last_name],
  ct: [HASHED.city],
  st: [HASHED.state],
  zp: [HASHED.zip],
  country: [HASHED.country],
};
