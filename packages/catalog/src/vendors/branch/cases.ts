import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, track } from '../shared/sample-events.ts';
import branch from './vendor.ts';

const standard = 'https://api2.branch.io/v2/event/standard';
const custom = 'https://api2.branch.io/v2/event/custom';
const branch_key = 'key_live_hcnegAumkH7Kv18M8AOHhfgiohpXq5tB';
const context = {
  app: { namespace: 'com.shop', version: '2.1' },
  os: { name: 'Android', version: '14' },
  device: { id: 'android-1', advertising_id: 'gaid-1', manufacturer: 'Google', model: 'Pixel 8' },
  screen: { width: 1080, height: 2205 },
  ip: '203.0.113.7',
  user_agent: 'Shop/2.1',
  locale: 'de-DE',
};
const user_data = {
  os: 'Android',
  os_version: '14',
  developer_identity: 'user-1',
  aaid: 'gaid-1',
  android_id: 'android-1',
  ip: '203.0.113.7',
  user_agent: 'Shop/2.1',
  app_version: '2.1',
  brand: 'Google',
  model: 'Pixel 8',
  screen_width: 1080,
  screen_height: 2205,
  language: 'de',
  environment: 'FULL_APP',
};
const base = (name: string, alias: string) => ({
  branch_key,
  name,
  customer_event_alias: alias,
  user_data,
  custom_data: { event_id: 'evt-1' },
});
const order = orderCompleted({}, { context });
const app = (name: string, properties = {}) => track(name, properties, { context });

export default vendorCases(
  branch,
  [
    {
      name: 'a purchase is PURCHASE, not ADD_PAYMENT_INFO',
      event: order,
      requests: [
        {
          method: 'POST',
          url: standard,
          body: {
            ...base('PURCHASE', 'Order Completed'),
            custom_data: {
              order_id: 'o-1',
              total: '42.5',
              revenue: '35',
              tax: '5',
              shipping: '2.5',
              currency: 'eur',
              coupon: 'TEA10',
              event_id: 'evt-1',
            },
            event_data: { transaction_id: 'o-1', revenue: 42.5, currency: 'EUR', tax: 5, shipping: 2.5, coupon: 'TEA10' },
            content_items: [
              { $sku: 'p-1', $product_name: 'Tea', $product_brand: 'Leaf', $product_variant: 'green', $price: 10, $quantity: 2 },
              { $sku: 'S2', $product_name: 'Cup', $price: 22.5, $quantity: 1 },
            ],
          },
        },
      ],
    },
    {
      name: 'a user in the EEA who limits tracking: unknown consent is none',
      config: { eea: true },
      event: track(
        'Signed In',
        {},
        { context: { os: { name: 'Android' }, device: { advertising_id: 'gaid-1', ad_tracking_enabled: false } } },
      ),
      requests: [
        {
          url: standard,
          body: {
            ...base('LOGIN', 'Signed In'),
            user_data: {
              os: 'Android',
              developer_identity: 'user-1',
              aaid: 'gaid-1',
              limit_ad_tracking: true,
              dma_eea: true,
              dma_ad_personalization: false,
              dma_ad_user_data: false,
              environment: 'FULL_APP',
            },
          },
        },
      ],
    },
    {
      name: 'consent of a user in the EEA',
      config: { eea: true },
      event: track('Signed In', {}, { context: { ...context, consent: { canonical: { marketing: true } } } }),
      requests: [
        {
          body: {
            ...base('LOGIN', 'Signed In'),
            user_data: { ...user_data, dma_eea: true, dma_ad_personalization: true, dma_ad_user_data: true },
          },
        },
      ],
    },
    {
      name: 'an iOS device',
      event: track('Signed In', {}, { context: { os: { name: 'iOS' }, device: { id: 'IDFV-1', advertising_id: 'IDFA-1' } } }),
      requests: [
        {
          url: standard,
          body: {
            branch_key,
            name: 'LOGIN',
            customer_event_alias: 'Signed In',
            custom_data: { event_id: 'evt-1' },
            user_data: { os: 'iOS', developer_identity: 'user-1', idfa: 'IDFA-1', idfv: 'IDFV-1', environment: 'FULL_APP' },
          },
        },
      ],
    },
    ...Object.entries({ macOS: 'MAC_OS', Windows: 'WINDOWS', Linux: 'LINUX', 'Chrome OS': 'Chrome OS' }).map(([name, os]) => ({
      name: `a desktop with ${name}`,
      event: track('Signed In', {}, { context: { os: { name } } }),
      requests: [{ contains: { 'user_data.os': os } }],
    })),
    {
      name: 'a product whose name, brand and variant are numbers: texts',
      event: orderCompleted(
        { coupon: 10, affiliation: 5, products: [{ product_id: 7, name: 1984, brand: 4711, variant: 38, price: '10', quantity: '2' }] },
        { context },
      ),
      requests: [
        {
          contains: {
            'event_data.coupon': '10',
            'event_data.affiliation': '5',
            content_items: [{ $sku: '7', $product_name: '1984', $product_brand: '4711', $product_variant: '38', $price: 10, $quantity: 2 }],
          },
        },
      ],
    },
    ...named(
      [
        ['Product List Viewed', 'VIEW_ITEMS', 'retail'],
        ['Product Viewed', 'VIEW_ITEM', 'retail'],
        ['Product Added', 'ADD_TO_CART', 'retail'],
        ['Product Added to Wishlist', 'ADD_TO_WISHLIST', 'retail'],
        ['Cart Viewed', 'VIEW_CART', 'retail'],
        ['Checkout Started', 'INITIATE_PURCHASE', 'retail'],
        ['Payment Info Entered', 'ADD_PAYMENT_INFO', 'retail'],
        ['Products Searched', 'SEARCH', 'retail'],
        ['Product Shared', 'SHARE', 'retail'],
        ['Product Reviewed', 'RATE', 'retail'],
        ['Signed Up', 'COMPLETE_REGISTRATION', 'retail'],
        ['Trial Started', 'START_TRIAL', 'saas'],
        ['Subscription Started', 'SUBSCRIBE', 'media'],
        ['Invite Sent', 'INVITE', 'saas'],
        ['Onboarding Completed', 'COMPLETE_TUTORIAL', 'saas'],
        ['Video Content Started', 'INITIATE_STREAM', 'media'],
        ['Video Content Completed', 'COMPLETE_STREAM', 'media'],
        ['Hotel Viewed', 'VIEW_ITEM', 'travel'],
      ],
      (event, name) => ({ event: app(event), requests: [{ url: standard, body: base(name, event) }] }),
    ),
    ...named(
      [
        ['Order Refunded', 'Order Refunded', 'retail'],
        ['Something Else', 'Something Else'],
      ],
      (event, name) => ({
        event: app(event),
        requests: [{ url: custom, body: base(name, event) }],
      }),
    ),
    {
      name: 'a search and its query',
      event: app('Products Searched', { query: 'tea' }),
      requests: [
        {
          url: standard,
          body: {
            ...base('SEARCH', 'Products Searched'),
            custom_data: { query: 'tea', event_id: 'evt-1' },
            event_data: { search_query: 'tea' },
          },
        },
      ],
    },
    { name: 'nobody to count', event: bare('Order Completed'), dropped: 'missing_required:user_data.developer_identity' },
    { name: 'an identify is no event', event: identified({ context }), dropped: 'mapping_filter' },
    { name: 'a group is no event', event: grouped({ context }), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { branch_view_enabled: false } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { error: { code: 400, message: 'invalid name' } } },
      verdict: { kind: 'refused', reason: 'http_400: invalid name' },
    },
    { name: 'a bad key', events: [order], reply: { status: 401, body: {} }, verdict: { kind: 'refused' } },
    {
      name: 'throttled, with a message',
      events: [order],
      reply: { status: 429, body: { error: { code: 429, message: 'Rate Limit Reached' } } },
      verdict: { kind: 'unavailable', reason: 'http_429: Rate Limit Reached' },
    },
    ...temporaryAnswers(order),
  ],
);
