import { ISOLATED, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import microsoft from './vendor.ts';

const url = 'https://capi.uet.microsoft.com/v1/12345678/events';
const context = { ...CONTEXT, click_ids: { msclkid: 'msclk-1' }, vendor_ids: { uetvid: 'vid-1' } };
const visit = visitOf(context);
const browser = {
  clientIpAddress: '203.0.113.7',
  clientUserAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
  msclkid: 'msclk-1',
  anonymousId: 'vid-1',
  externalId: 'user-1',
};
const web = {
  eventType: 'custom',
  eventId: 'evt-1',
  eventTime: 1767323045,
  eventSourceUrl: 'https://shop.example/checkout?x=1',
  pageTitle: 'Checkout',
  referrerUrl: 'https://www.example.org/',
  adStorageConsent: 'G',
};
const order = orderCompleted({}, { context });
const sent = (...data: unknown[]) => [{ url, body: { data } }];

export default vendorCases(
  microsoft,
  [
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer eyJexampletoken0123456789' },
          body: {
            data: [
              {
                ...web,
                eventName: 'purchase',
                // annaberg@example.com
                userData: { em: 'fd4bdd75cb213bc0d4a32542fce9e0ffc56b95ea7a5e60beecea7c6b4fff53d9', ph: HASHED.phone, ...browser },
                customData: {
                  items: [
                    { id: 'p-1', name: 'Tea', price: 10, quantity: 2 },
                    { id: 'S2', name: 'Cup', price: 22.5, quantity: 1 },
                  ],
                  itemIds: ['p-1', 'S2'],
                  value: 42.5,
                  currency: 'EUR',
                  transactionId: 'o-1',
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'an address with accents is hashed without them',
      event: track('Signed Up', {}, { traits: { email: 'Zoé.Müller+shop@example.com' } }),
      // zoemuller@example.com
      requests: [{ contains: { 'data[0].userData.em': '864de1a4f13c04da7adb7237186b9ed9b06b9d52e23e03ad81fa368769051c62' } }],
    },
    {
      name: 'a page load',
      event: pageViewed({ context }),
      requests: sent({ ...web, eventType: 'pageLoad', eventName: 'page_view', eventId: 'evt-2', userData: browser }),
    },
    {
      name: 'an app event, and advertising consent denied',
      event: track(
        'Signed Up',
        {},
        {
          traits: {},
          context: {
            app: { namespace: 'com.shop' },
            os: { name: 'Android' },
            device: { advertising_id: 'gaid-1' },
            consent: { canonical: { marketing: false } },
          },
        },
      ),
      requests: sent({
        eventType: 'custom',
        eventName: 'sign_up',
        eventId: 'evt-1',
        eventTime: 1767323045,
        adStorageConsent: 'D',
        userData: { anonymousId: 'anon-1', externalId: 'user-1', gaid: 'gaid-1' },
      }),
    },
    {
      name: 'an iOS app',
      event: track('Signed In', {}, { traits: {}, context: { os: { name: 'iOS' }, device: { advertising_id: 'IDFA-1' } } }),
      requests: sent({
        eventType: 'custom',
        eventName: 'login',
        eventId: 'evt-1',
        eventTime: 1767323045,
        userData: { anonymousId: 'anon-1', externalId: 'user-1', idfa: 'IDFA-1' },
      }),
    },
    {
      name: 'a click ID as it is in the page’s address, as a UUID',
      event: track('Signed In', {}, { traits: {}, context: { click_ids: { msclkid: 'cdd4afcccb1c9a4cad9544dd7e5006d5' } } }),
      requests: [{ contains: { 'data[0].userData.msclkid': 'cdd4afcc-cb1c-9a4c-ad95-44dd7e5006d5' } }],
    },
    {
      name: 'a search',
      variant: 'travel',
      event: visit('Trip Searched', { destination: 'Lisbon' }),
      requests: sent({ ...web, eventName: 'search', userData: browser, customData: { searchTerm: 'Lisbon' } }),
    },
    ...named(
      [
        ['Product Viewed', 'view_item', 'retail'],
        ['Product Added', 'add_to_cart', 'retail'],
        ['Product Removed', 'remove_from_cart', 'retail'],
        ['Product Added to Wishlist', 'add_to_wishlist', 'retail'],
        ['Product Shared', 'share', 'retail'],
        ['Offer Viewed', 'view_item', 'travel'],
      ],
      (event, eventName) => ({
        event: visit(event, { sku: 'S2', price: 22.5, currency: 'EUR' }),
        requests: sent({
          ...web,
          eventName,
          userData: browser,
          customData: { items: [{ id: 'S2', price: 22.5, quantity: 1 }], itemIds: ['S2'], value: 22.5, currency: 'EUR' },
        }),
      }),
    ),
    ...named(
      [
        ['Checkout Started', 'begin_checkout', 'retail'],
        ['Payment Info Entered', 'add_payment_info', 'retail'],
        ['Order Refunded', 'refund', 'retail'],
        ['Cart Viewed', 'view_cart', 'retail'],
        ['Product List Viewed', 'view_item_list', 'retail'],
        ['Lead Generated', 'generate_lead', 'saas'],
        ['Trial Started', 'start_trial', 'saas'],
        ['Subscription Started', 'subscribe', 'media'],
      ],
      (event, eventName) => ({ event: visit(event, { total: 5 }), requests: sent({ ...web, eventName, userData: browser }) }),
    ),
    {
      name: 'a batch',
      event: visit('Signed In'),
      batched: [visit('Signed Up')],
      requests: sent({ ...web, eventName: 'login', userData: browser }, { ...web, eventName: 'sign_up', userData: browser }),
    },
    { name: 'a page load without an address', event: pageViewed({ context: {} }), dropped: 'missing_required:eventSourceUrl' },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:userData.msclkid' },
    { name: 'an event of 8 days', event: order, now: '2026-01-10T03:04:06Z', dropped: 'event_too_old' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { eventsReceived: 1 } }, verdict: { kind: 'delivered' } },
    {
      name: 'accepted, without an optional field that was wrong',
      events: [order],
      reply: {
        status: 200,
        body: {
          eventsReceived: 1,
          error: { details: [{ index: 0, propertyName: 'pageTitle', errorMessage: 'too long', isWarning: true }] },
        },
      },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a bad event',
      events: [order],
      reply: {
        status: 400,
        body: { error: { code: 'ValidationError', details: [{ index: 0, propertyName: 'eventTime', errorMessage: 'too old' }] } },
      },
      verdict: { kind: 'refused' },
    },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    { name: 'a bad token', events: [order, order], reply: { status: 401, body: {} }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
