import { ISOLATED, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, HASHED, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import amazon from './vendor.ts';

const url = 'https://advertising-api.amazon.com/adsApi/v1/create/events';
const key = (type: string, value: string) => ({ type, values: [value] });
const described = (name: string, conversionType: string, eventSource = 'WEBSITE') => ({
  name,
  conversionType,
  eventSource,
  eventIngestionMethod: 'SERVER_TO_SERVER',
});
const consent = { amazonConsent: { amznAdStorage: 'GRANTED', amznUserData: 'GRANTED' }, geo: { ipAddress: '203.0.113.7' } };
const web = { countryCode: 'US', eventTime: '2026-01-02T03:04:05.678Z', eventId: 'evt-1', consent };
const traits = { email: 'anna.berg@example.com' };
const matchKeys = [key('EMAIL', HASHED.email)];
const order = orderCompleted();
const sent = (...events: unknown[]) => [{ url, body: { events } }];
const visit = (event: string, properties = {}) => track(event, properties, { traits });

export default vendorCases(
  amazon,
  [
    {
      name: 'an amount of three decimal places is rounded',
      event: orderCompleted({ total: '12.345', currency: 'KWD' }),
      requests: [{ contains: { 'events[0].value': 12.35, 'events[0].currencyCode': 'KWD' } }],
    },
    { name: 'an event that is older than 21 days', event: order, now: '2026-01-23T03:04:06.000Z', dropped: 'event_too_old' },
    {
      name: 'a purchase, with every match key',
      config: { data_set_name: 'web_events' },
      event: { ...order, traits: { ...order.traits, address: { ...(order.traits?.address as object), street: '1 Main St.' } } },
      requests: [
        {
          method: 'POST',
          url,
          headers: {
            Authorization: 'Bearer access-token',
            'Amazon-Ads-ClientId': 'amzn1.application-oa2-client.0123456789abcdef',
            'Amazon-Ads-AccountId': 'amzn1.ads-account.g.example123',
          },
          body: {
            events: [
              {
                ...web,
                eventDescription: { ...described('Order Completed', 'OFF_AMAZON_PURCHASES'), dataSetName: 'web_events' },
                value: 42.5,
                currencyCode: 'EUR',
                unitsSold: 3,
                matchKeys: [
                  ...matchKeys,
                  key('PHONE', HASHED.phone_digits),
                  key('FIRST_NAME', HASHED.first_name),
                  key('LAST_NAME', HASHED.last_name),
                  key('ADDRESS', '7bd5ed07ff26b38247e5cc117acaecc6070f645bc70cbf9238dd56c04dfe1fe5'),
                  key('CITY', HASHED.city),
                  key('STATE', '350c754ba4d38897693aa077ef43072a859d23f613443133fecbbd90a3512ca5'),
                  key('POSTAL', 'c1d284a3d34db7dfd8182832804364e105e2f3c8924a34b5024b0284d8c2fe42'),
                ],
              },
            ],
          },
        },
      ],
    },
    {
      name: 'an app, in Europe; the default country',
      config: { region: 'https://advertising-api-eu.amazon.com', country_code: 'DE' },
      event: track('Application Installed', {}, { traits: {}, context: { os: { name: 'Android' }, device: { advertising_id: 'GAID-1' } } }),
      requests: [
        {
          url: 'https://advertising-api-eu.amazon.com/adsApi/v1/create/events',
          body: {
            events: [
              {
                eventDescription: described('Application Installed', 'MOBILE_APP_FIRST_START', 'ANDROID'),
                countryCode: 'DE',
                eventTime: '2026-01-02T03:04:05.678Z',
                eventId: 'evt-1',
                matchKeys: [key('MAID', 'GAID-1')],
              },
            ],
          },
        },
      ],
    },
    {
      name: 'an iOS app, with consent denied',
      event: track(
        'Signed Up',
        {},
        { traits, context: { os: { name: 'iOS' }, app: { namespace: 'x' }, consent: { canonical: { advertising: false } } } },
      ),
      requests: sent({
        eventDescription: described('Signed Up', 'SIGN_UP', 'IOS'),
        countryCode: 'US',
        eventTime: '2026-01-02T03:04:05.678Z',
        eventId: 'evt-1',
        consent: { amazonConsent: { amznAdStorage: 'DENIED', amznUserData: 'DENIED' } },
        matchKeys,
      }),
    },
    {
      name: 'a page view',
      event: pageViewed({ traits }),
      requests: sent({ ...web, eventId: 'evt-2', eventDescription: described('Home', 'PAGE_VIEW'), matchKeys }),
    },
    ...named(
      [
        ['Products Searched', 'SEARCH', 'retail'],
        ['Product Viewed', 'PAGE_VIEW', 'retail'],
        ['Product Added', 'ADD_TO_SHOPPING_CART', 'retail'],
        ['Checkout Started', 'CHECKOUT', 'retail'],
        ['Signed Up', 'SIGN_UP', 'retail'],
        ['Lead Generated', 'LEAD', 'saas'],
        ['Subscription Started', 'SUBSCRIBE', 'media'],
        ['Hotel Searched', 'SEARCH', 'travel'],
      ],
      (event, type) => ({
        event: visit(event, { value: 5, currency: 'USD' }),
        requests: sent({ ...web, eventDescription: described(event, type), matchKeys }),
      }),
    ),
    {
      name: 'a booking without a currency has no value',
      variant: 'travel',
      event: visit('Booking Completed', { total: 5 }),
      requests: sent({ ...web, eventDescription: described('Booking Completed', 'OFF_AMAZON_PURCHASES'), matchKeys }),
    },
    {
      name: 'an offline batch',
      event: track('Signed Up', {}, { traits, context: {} }),
      batched: [track('Lead Generated', {}, { traits, context: {} })],
      requests: sent(
        ...(['Signed Up', 'Lead Generated'] as const).map((name) => ({
          eventDescription: described(name, name === 'Signed Up' ? 'SIGN_UP' : 'LEAD', 'OFFLINE'),
          countryCode: 'US',
          eventTime: '2026-01-02T03:04:05.678Z',
          eventId: 'evt-1',
          matchKeys,
        })),
      ),
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:matchKeys' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
    { name: 'a wish list has no type', event: track('Product Added to Wishlist'), dropped: 'mapping_filter' },
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 207, body: { success: [{ index: 0 }], error: [] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a bad event inside a 207',
      events: [order],
      reply: { status: 207, body: { error: [{ index: 0, errors: [{ code: 'BAD_REQUEST', message: 'eventTime is invalid' }] }] } },
      verdict: { kind: 'refused', reason: 'http_207: eventTime is invalid' },
    },
    {
      name: 'a mixed batch is sent one by one',
      events: [order, order],
      reply: { status: 207, body: { success: [{ index: 0 }], error: [{ index: 1 }] } },
      verdict: ISOLATED,
    },
    { name: 'a malformed request', events: [order, order], reply: { status: 400, body: { message: 'no' } }, verdict: ISOLATED },
    {
      name: 'an expired token',
      events: [order],
      reply: { status: 401, body: {} },
      verdict: { kind: 'unavailable', refresh_token: true } as never,
    },
    { name: 'no permission', events: [order, order], reply: { status: 403, body: {} }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
