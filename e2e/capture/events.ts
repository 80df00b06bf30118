/** Forty standard events as an SDK sends them: a shopper's website and app, with and without ids, cookies, consent and sessions. */
import { CLICK_IDS } from '@firsthand/core/context/click-ids.ts';

interface Message {
  messageId: string;
  type: string;
  [field: string]: unknown;
}

const TIME = '2026-01-02T03:04:05.678Z';
const CONSENT = { categories: { advertising: true, marketing: true, analytics: true, statistics: true } };
const clicks = new URLSearchParams(CLICK_IDS.map(({ param }) => [param, `${param}-1`]));
const page = { url: `https://shop.example/checkout?${clicks}`, path: '/checkout', title: 'Checkout', referrer: 'https://www.example.org/' };
const WEB = {
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
  locale: 'de-DE',
  page,
  sessionId: 1767322800000,
  campaign: { source: 'newsletter', medium: 'email', name: 'january' },
  cookies: {
    ...{ _fbp: 'fb.1.1700000000000.42', _ga: 'GA1.1.1234567890.1700000000', _ga_ABC1234567: 'GS1.1.1767322800.1.1.1767322900.0.0.0' },
    ...{
      _ttp: 'ttp-1',
      _scid: 'scid-1',
      _uetvid: 'uetvid-1',
      _rdt_uuid: '1677712978045.b8f7eb7d',
      _axwrt: 'axwrt-1',
      __adroll_fpc: 'fpc-1',
    },
    ...{ crto_mapped_user_id: 'gum-1', hubspotutk: 'hutk-1' },
  },
  consent: CONSENT,
};
const APP = {
  ip: '203.0.113.7',
  locale: 'en-US',
  app: { name: 'Shop', namespace: 'com.example.shop', version: '2.1', build: '210' },
  os: { name: 'Android', version: '14' },
  device: { id: 'android-1', advertisingId: 'gaid-1', adTrackingEnabled: true, manufacturer: 'Google', model: 'Pixel 8', type: 'android' },
  screen: { width: 1080, height: 2400, density: 2.6 },
  network: { carrier: 'T-Mobile', wifi: true },
  timezone: 'Europe/Berlin',
  vendor_ids: { appsflyer_id: '1415211453000-6513894', kochava_device_id: 'KV-1' },
  consent: CONSENT,
};
const TRAITS = {
  email: ' Anna.Berg@Example.com ',
  phone: '+49 151 234-56789',
  first_name: 'Anna',
  last_name: 'Berg',
  gender: 'female',
  birthday: '1990-03-07',
  address: { street: '1 Main St.', city: 'New York', state: 'New York', postal_code: '10001-1234', country: 'US' },
  company: { name: 'Acme' },
  plan: 'pro',
};
const TEA = {
  product_id: 'p-1',
  sku: 'S1',
  name: 'Tea',
  brand: 'Leaf',
  category: 'Drinks',
  variant: 'green',
  price: 10,
  quantity: 2,
  currency: 'EUR',
};
const PRODUCTS = [TEA, { sku: 'S2', name: 'Cup', price: '22.50' }];
const ORDER = {
  order_id: 'o-1',
  total: 42.5,
  revenue: 35,
  tax: 5,
  shipping: 2.5,
  discount: 1,
  currency: 'EUR',
  coupon: 'TEA10',
  products: PRODUCTS,
};
const TRIP = {
  origin: 'BER',
  destination: 'LIS',
  check_in: '2026-03-01',
  check_out: '2026-03-08',
  departure_date: '2026-03-01',
  return_date: '2026-03-08',
  adults: 2,
  children: 1,
};
const ROOM = { product_id: 'room-1', name: 'Sea view', price: 120, currency: 'EUR', ...TRIP };
const BOOKING = {
  booking_id: 'b-1',
  total: 840,
  currency: 'EUR',
  products: [{ product_id: 'room-1', name: 'Sea view', price: 120, quantity: 7 }],
  ...TRIP,
};
const MEDIA = { content_id: 'c-1', title: 'How to brew', section: 'Food', author: 'Ben', duration: 120, position: 30 };
const PLAN = { plan: 'pro', plan_id: 'plan-1', value: 20, currency: 'USD' };

const TRACKED: [event: string, properties: object][] = [
  ['Products Searched', { query: 'tea', products: PRODUCTS }],
  ['Product List Viewed', { list_id: 'new', list_name: 'New', category: 'Drinks', products: PRODUCTS }],
  ['Product Clicked', TEA],
  ['Product Viewed', TEA],
  ['Product Added', TEA],
  ['Product Removed', TEA],
  ['Product Added to Wishlist', TEA],
  ['Cart Viewed', { cart_id: 'k-1', total: 42.5, currency: 'EUR', products: PRODUCTS }],
  ['Checkout Started', { ...ORDER, checkout_id: 'k-1' }],
  ['Payment Info Entered', { ...ORDER, payment_method: 'card' }],
  ['Coupon Applied', { order_id: 'o-1', coupon_id: 'TEA10', coupon_name: 'Tea 10 %', discount: 1 }],
  ['Order Completed', ORDER],
  ['Order Refunded', { order_id: 'o-1', total: 42.5, currency: 'EUR', products: PRODUCTS }],
  ['Signed Up', { method: 'email' }],
  ['Signed In', { method: 'email' }],
  ['Lead Generated', { value: 15, currency: 'EUR', lead_source: 'form' }],
  ['Trip Searched', { query: 'Lisbon', ...TRIP }],
  ['Hotel Searched', { city: 'Lisbon', ...TRIP }],
  ['Offer Viewed', ROOM],
  ['Booking Started', BOOKING],
  ['Booking Completed', BOOKING],
  ['Booking Cancelled', BOOKING],
  ['Article Viewed', MEDIA],
  ['Content Searched', { query: 'brew' }],
  ['Video Content Started', MEDIA],
  ['Newsletter Subscribed', { name: 'Weekly' }],
  ['Subscription Started', PLAN],
  ['Trial Started', PLAN],
  ['Invite Sent', { invitee_role: 'editor' }],
  ['Feature Used', { name: 'Export' }],
  ['Demo Requested', { value: 100, currency: 'USD' }],
];

/** The traits come as `context.traits`, as with every common SDK. */
const known = (context: object) => ({ userId: 'user-1', anonymousId: 'anon-1', timestamp: TIME, context: { ...context, traits: TRAITS } });
const track = (messageId: string, event: string, properties: object, who: object): Message => ({
  messageId,
  type: 'track',
  event,
  properties,
  ...who,
});
const slug = (text: string) => text.toLowerCase().replace(/\W+/g, '-');

export const STANDARD_EVENTS: Message[] = [
  ...TRACKED.map(([event, properties]) => track(slug(event), event, properties, known(WEB))),
  track('app-application-installed', 'Application Installed', {}, known(APP)),
  track('app-order-completed', 'Order Completed', ORDER, known(APP)),
  { messageId: 'page', type: 'page', name: 'Home', properties: { path: '/' }, ...known(WEB) },
  { messageId: 'screen', type: 'screen', name: 'Cart', properties: {}, ...known(APP) },
  { messageId: 'identify', type: 'identify', ...known(WEB), traits: TRAITS },
  { messageId: 'group', type: 'group', groupId: 'acme', ...known(WEB), traits: { name: 'Acme', plan: 'pro' } },
  { messageId: 'alias', type: 'alias', previousId: 'anon-1', userId: 'user-1', timestamp: TIME, context: WEB },
  track(
    'denied-order-completed',
    'Order Completed',
    ORDER,
    known({ ...WEB, consent: { categories: { advertising: false, marketing: false, analytics: false } } }),
  ),
  track('bare-order-completed', 'Order Completed', ORDER, { anonymousId: 'anon-2', timestamp: TIME, context: {} }),
];
