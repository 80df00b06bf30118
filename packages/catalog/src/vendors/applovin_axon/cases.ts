import { ISOLATED, lacking, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import axon from './vendor.ts';

const url = 'https://b.applovin.com/v1/event?pixel_id=0a1b2c3d-1111-4222-8333-abcdefabcdef';
const context = { ...CONTEXT, click_ids: { aleid: 'al-1', alart: 'ar-1' }, vendor_ids: { axwrt: 'ax-1' } };
const visit = visitOf(context);
const browser = {
  esi: 'web',
  client_ip_address: '203.0.113.7',
  client_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  aleid: 'al-1',
  alart: 'ar-1',
  axwrt: 'ax-1',
  client_id: 'anon-1',
  user_id: 'user-1',
};
const web = { dedupe_id: 'evt-1', event_time: 1767323045678, event_source_url: 'https://shop.example/checkout?x=1' };
const order = orderCompleted({}, { context });
const sent = (...events: unknown[]) => [{ url, body: { events } }];

export default vendorCases(
  axon,
  [
    {
      name: 'an address that was left blank',
      event: track('Signed Up', {}, { traits: { email: 'anna.berg@example.com', address: { postal_code: '', country: '' } }, context }),
      requests: [{ contains: { 'events[0].user_data': { ...browser, email: HASHED.email } } }],
    },
    {
      name: 'a purchase; the key without Bearer',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'axon_examplekey0123456789' },
          body: {
            events: [
              {
                ...web,
                name: 'purchase',
                user_data: { ...browser, email: HASHED.email, phone: HASHED.phone_digits, country_code: 'US', zip: '10001' },
                data: {
                  currency: 'EUR',
                  value: 42.5,
                  transaction_id: 'o-1',
                  tax: 5,
                  shipping: 2.5,
                  items: [
                    { item_id: 'p-1', item_name: 'Tea', item_brand: 'Leaf', item_variant_id: 'green', price: 10, quantity: 2 },
                    { item_id: 'S2', item_name: 'Cup', price: 22.5, quantity: 1 },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a page view has empty data',
      event: pageViewed({ context }),
      requests: sent({ ...web, dedupe_id: 'evt-2', name: 'page_view', user_data: browser, data: {} }),
    },
    {
      name: 'an iOS app',
      event: track(
        'Application Opened',
        {},
        {
          traits: {},
          context: {
            os: { name: 'iOS' },
            device: { id: 'IDFV-1', advertising_id: 'IDFA-1' },
            ip: '203.0.113.7',
            user_agent: 'Shop',
            page: { url: 'https://shop.example/app' },
          },
        },
      ),
      requests: sent({
        dedupe_id: 'evt-1',
        event_time: 1767323045678,
        name: 'app_open',
        event_source_url: 'https://shop.example/app',
        data: {},
        user_data: {
          esi: 'app',
          client_ip_address: '203.0.113.7',
          client_user_agent: 'Shop',
          client_id: 'anon-1',
          user_id: 'user-1',
          ifa: 'IDFA-1',
          idfv: 'IDFV-1',
          os: 'ios',
        },
      }),
    },
    ...named(
      [
        ['Product Viewed', 'view_item', 'retail'],
        ['Product Added', 'add_to_cart', 'retail'],
        ['Product Removed', 'remove_from_cart', 'retail'],
        ['Offer Viewed', 'view_item', 'travel'],
      ],
      (event, name) => ({
        event: visit(event, { product_id: 'p-1', price: 10, currency: 'USD' }),
        requests: sent({
          ...web,
          name,
          user_data: browser,
          data: { items: [{ item_id: 'p-1', price: 10, quantity: 1 }], value: 10, currency: 'USD' },
        }),
      }),
    ),
    ...named(
      [
        ['Cart Viewed', 'view_cart', 'retail'],
        ['Signed Up', 'sign_up', 'retail'],
        ['Signed In', 'login', 'retail'],
        ['Subscription Started', 'subscribe', 'media'],
      ],
      (event, name) => ({ event: visit(event, { total: 5 }), requests: sent({ ...web, name, user_data: browser, data: {} }) }),
    ),
    ...named(
      [
        ['Checkout Started', 'begin_checkout', 'retail'],
        ['Payment Info Entered', 'add_payment_info', 'retail'],
        ['Booking Started', 'begin_checkout', 'travel'],
      ],
      (event, name) => ({
        event: visit(event, { currency: 'usd', products: [{ product_id: 'p-1', price: 5 }] }),
        requests: sent({
          ...web,
          name,
          user_data: browser,
          data: { items: [{ item_id: 'p-1', price: 5, quantity: 1 }], value: 5, currency: 'USD' },
        }),
      }),
    ),
    {
      name: 'a checkout without items',
      event: visit('Checkout Started', { total: 5, currency: 'USD' }),
      dropped: 'missing_required:data.items',
    },
    {
      name: 'a lead and its value',
      variant: 'saas',
      event: visit('Lead Generated', { value: 30, currency: 'USD' }),
      requests: sent({ ...web, name: 'generate_lead', user_data: browser, data: { value: 30, currency: 'USD' } }),
    },
    { name: 'a lead without a value', event: visit('Lead Generated', { currency: 'USD' }), dropped: 'missing_required:data.value' },
    {
      name: 'a newsletter is a lead',
      variant: 'media',
      event: visit('Newsletter Subscribed', { value: 1, currency: 'USD' }),
      requests: sent({ ...web, name: 'generate_lead', user_data: browser, data: { value: 1, currency: 'USD' } }),
    },
    { name: 'a newsletter without a value', event: visit('Newsletter Subscribed'), dropped: 'missing_required:data.currency' },
    { name: 'a lead without a currency', event: visit('Lead Generated', { value: 30 }), dropped: 'missing_required:data.currency' },
    {
      name: 'a search',
      event: visit('Products Searched', { query: 'tea' }),
      requests: sent({ ...web, name: 'search', user_data: browser, data: { search_term: 'tea' } }),
    },
    {
      name: 'a search with its results, which are no items',
      event: visit('Products Searched', { query: 'tea', products: [{ product_id: 'p-1', name: 'Tea', price: 10 }, { name: 'Cup' }] }),
      requests: sent({
        ...web,
        name: 'search',
        user_data: browser,
        data: { search_term: 'tea', results: [{ item_id: 'p-1', item_name: 'Tea', price: 10, quantity: 1 }] },
      }),
    },
    {
      name: 'a batch',
      event: visit('Signed In'),
      batched: [visit('Signed Up')],
      requests: sent({ ...web, name: 'login', user_data: browser, data: {} }, { ...web, name: 'sign_up', user_data: browser, data: {} }),
    },
    {
      name: 'a purchase without items',
      event: track('Order Completed', { order_id: 'o-1', total: 5, currency: 'USD' }, { context }),
      dropped: 'missing_required:data.items',
    },
    {
      name: 'a purchase without an order id',
      event: orderCompleted({ order_id: undefined } as never, { context }),
      dropped: 'missing_required:data.transaction_id',
    },
    {
      name: 'a purchase without a currency',
      event: orderCompleted({ currency: '€' }, { context }),
      dropped: 'missing_required:data.currency',
    },
    ...lacking({ 'data.value': orderCompleted({ total: null, revenue: null, products: [{ product_id: 'p-1' }] }, { context }) }),
    { name: 'no IP address', event: bare('Signed Up'), dropped: 'missing_required:user_data.client_ip_address' },
    {
      name: 'no user agent',
      event: track('Signed Up', {}, { context: { ip: '203.0.113.7' } }),
      dropped: 'missing_required:user_data.client_user_agent',
    },
    {
      name: 'no page',
      event: track('Signed Up', {}, { context: { ip: '203.0.113.7', user_agent: 'Shop' } }),
      dropped: 'missing_required:event_source_url',
    },
    {
      name: 'nobody to match',
      event: {
        ...bare('Signed Up'),
        context: { ip: '203.0.113.7', user_agent: 'Mozilla/5.0', page: { url: 'https://shop.example/' } },
      },
      dropped: 'missing_required:user_data.aleid',
    },
    { name: 'a view of nothing', event: visit('Product Viewed', { price: 10 }), dropped: 'missing_required:data.items[0].item_id' },
    { name: 'an article', event: visit('Article Viewed', { article_id: 'a-1' }), dropped: 'mapping_filter' },
    { name: 'a refund', event: visit('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    { name: 'a bad event', events: [order], reply: { status: 400, body: 'bad' }, verdict: { kind: 'refused' } },
    { name: 'a bad event drops the batch', events: [order, order], reply: { status: 400, body: '' }, verdict: ISOLATED },
    { name: 'a bad key', events: [order, order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
