import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, TRAITS, track } from '../shared/sample-events.ts';
import amplitude from './vendor.ts';

const head = { api_key: '0123456789abcdef0123456789abcdef', options: { min_id_length: 1 } };
const common = {
  user_id: 'user-1',
  device_id: 'anon-1',
  time: 1767323045678,
  ip: '203.0.113.7',
  language: 'de-DE',
  platform: 'Web',
  library: 'firsthand',
};
const page = { page_url: 'https://shop.example/checkout?x=1', page_referrer: 'https://www.example.org/', page_title: 'Checkout' };
const clicks = { gclid: 'Cj0KCQ', fbclid: 'IwAR2F', ttclid: 'E.C.P' };
/** An event of somebody of whom only the ids are known. */
const bareEvent = { insert_id: 'evt-1', user_id: 'user-1', device_id: 'anon-1', time: 1767323045678, library: 'firsthand' };
const order = orderCompleted();
const plain = track('Quiz Taken', { score: 3 }, { traits: {}, context: {} });

export default vendorCases(
  amplitude,
  [
    {
      name: 'an order with its revenue',
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://api2.amplitude.com/2/httpapi',
          body: {
            ...head,
            events: [
              {
                ...common,
                event_type: 'Order Completed',
                insert_id: 'evt-1',
                event_properties: { ...order.properties, ...page },
                user_properties: { $set: { ...TRAITS, ...clicks } },
                revenue: 35,
                currency: 'EUR',
                revenueType: 'Purchase',
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a refund, in the EU',
      variant: 'retail',
      config: { data_region: 'eu' },
      event: track('Order Refunded', { total: 10 }, { traits: {}, context: {} }),
      requests: [
        {
          url: 'https://api.eu.amplitude.com/2/httpapi',
          body: {
            ...head,
            events: [
              {
                event_type: 'Order Refunded',
                ...bareEvent,
                event_properties: { total: 10 },
                user_properties: { $set: {} },
                revenue: -10,
                revenueType: 'Refund',
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a refund that the shop writes with a minus',
      variant: 'retail',
      event: track('Order Refunded', { total: -10 }, { traits: {}, context: {} }),
      requests: [{ contains: { 'events[0].revenue': -10 } }],
    },
    {
      name: 'any other event under its own name',
      event: plain,
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                event_properties: { score: 3 },
                user_properties: { $set: {} },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                ...common,
                event_type: 'Page Viewed',
                insert_id: 'evt-2',
                event_properties: { path: '/', page_name: 'Home', ...page },
                user_properties: { $set: clicks },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'identify sets user properties',
      event: identified(),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                ...common,
                event_type: '$identify',
                insert_id: 'evt-3',
                event_properties: page,
                user_properties: { $set: { ...TRAITS, ...clicks } },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'session: session_id is the start of the session in milliseconds',
      event: track('Quiz Taken', {}, { traits: {}, context: { session: { id: 's', started_at: '2026-01-02T03:00:00.000Z', number: 2 } } }),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                session_id: 1767322800000,
                event_properties: {},
                user_properties: { $set: {} },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'campaign: the current one is set, the first one set once; unchanged traits are not sent again; the group comes along',
      event: track(
        'Quiz Taken',
        {},
        { context: { campaign: { source: 'news' }, campaign_first: { source: 'ad' }, traits_changed: false, group_id: 'acme' } },
      ),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                event_properties: {},
                user_properties: { $set: { utm_source: 'news' }, $setOnce: { initial_utm_source: 'ad' } },
                groups: { company: 'acme' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app: the platform of an iOS app',
      event: track(
        'Quiz Taken',
        {},
        { traits: {}, context: { app: { namespace: 'com.shop', version: '2' }, os: { name: 'iOS', version: '18' } } },
      ),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                platform: 'iOS',
                os_name: 'iOS',
                os_version: '18',
                app_version: '2',
                event_properties: {},
                user_properties: { $set: {} },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app: the device of an Android app, and versions that are numbers',
      event: track(
        'Quiz Taken',
        {},
        {
          traits: {},
          context: {
            app: { namespace: 'com.shop', version: 2.1 },
            os: { name: 'Android', version: 14 },
            device: { id: 'android-1', manufacturer: 'Google', model: 'Pixel 8' },
            network: { carrier: 'T-Mobile' },
          },
        },
      ),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                platform: 'Android',
                os_name: 'Android',
                os_version: '14',
                app_version: '2.1',
                device_manufacturer: 'Google',
                device_model: 'Pixel 8',
                carrier: 'T-Mobile',
                android_id: 'android-1',
                event_properties: {},
                user_properties: { $set: {} },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'screen: a screen of an Android app',
      event: pageViewed({
        original_type: 'screen',
        name: 'Cart',
        properties: {},
        context: { app: { namespace: 'com.shop' }, os: { name: 'Android' } },
      }),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Screen Viewed',
                insert_id: 'evt-2',
                user_id: 'user-1',
                device_id: 'anon-1',
                time: 1767323045678,
                platform: 'Android',
                os_name: 'Android',
                library: 'firsthand',
                event_properties: { screen_name: 'Cart' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'location: from the address, if there is one',
      event: track('Quiz Taken', {}, { traits: {}, context: { ip: '203.0.113.7', geo: { country: 'DE' } } }),
      requests: [
        {
          body: {
            ...head,
            events: [{ event_type: 'Quiz Taken', ...bareEvent, ip: '203.0.113.7', event_properties: {}, user_properties: { $set: {} } }],
          },
        },
      ],
    },
    {
      name: 'location: from the event, if it has no address',
      event: track('Quiz Taken', {}, { traits: {}, context: { geo: { country: 'DE', region: 'BE', city: 'Berlin' } } }),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                country: 'DE',
                region: 'BE',
                city: 'Berlin',
                event_properties: {},
                user_properties: { $set: {} },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'click id: remembered click ids are user properties',
      event: track('Quiz Taken', {}, { traits: {}, context: { click_ids: { gclid: 'G1', fbclid: 'F1', msclkid: 'M1' } } }),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                event_type: 'Quiz Taken',
                ...bareEvent,
                event_properties: {},
                user_properties: { $set: { gclid: 'G1', fbclid: 'F1', msclkid: 'M1' } },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'group sets group properties, and puts the user into the group',
      event: grouped(),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                ...common,
                event_type: '$groupidentify',
                insert_id: 'evt-4',
                event_properties: page,
                user_properties: { $set: clicks },
                groups: { company: 'acme' },
                group_properties: { $set: { name: 'Acme' } },
              },
              {
                event_type: '$identify',
                insert_id: 'evt-4-1',
                user_id: 'user-1',
                device_id: 'anon-1',
                time: 1767323045678,
                groups: { company: 'acme' },
                user_properties: { $set: { company: 'acme' } },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a booking with its revenue',
      variant: 'travel',
      event: track('Booking Completed', { booking_id: 'b-1', total: 840, currency: 'eur' }, { traits: {}, context: {} }),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                ...bareEvent,
                event_type: 'Booking Completed',
                event_properties: { booking_id: 'b-1', total: 840, currency: 'eur' },
                user_properties: { $set: {} },
                revenue: 840,
                currency: 'EUR',
                revenueType: 'Purchase',
              },
            ],
          },
        },
      ],
    },
    { name: 'nobody to count', event: bare('Quiz Taken'), dropped: 'missing_required:user_id' },
  ],
  [
    { name: 'ingested', events: [order], reply: { status: 200, body: { code: 200, events_ingested: 1 } }, verdict: { kind: 'delivered' } },
    {
      name: 'named events are at fault, the rest goes again',
      events: [order, order, order],
      reply: {
        status: 400,
        body: {
          code: 400,
          error: 'Request missing required field',
          events_with_invalid_fields: { time: [1] },
          events_with_missing_fields: {},
        },
      },
      verdict: {
        kind: 'partial',
        items: [
          { kind: 'unavailable', reason: 'http_400: sent together with rejected items' },
          { kind: 'refused', reason: 'http_400: Request missing required field' },
          { kind: 'unavailable', reason: 'http_400: sent together with rejected items' },
        ],
      },
    },
    {
      name: 'a bad key',
      events: [order, order],
      reply: { status: 400, body: { code: 400, error: 'Invalid API key: 0123456789abcdef0123456789abcdef' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'a field of the request is missing',
      events: [order, order],
      reply: { status: 400, body: { code: 400, error: 'Request missing required field', missing_field: 'api_key' } },
      verdict: { kind: 'refused', reason: 'http_400: Request missing required field' },
    },
    {
      name: 'too large together',
      events: [order, order],
      reply: { status: 413 },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, body: { error: 'Too many requests for some devices and users', throttled_users: { 'user-1': 40 } } },
      verdict: {
        kind: 'partial',
        items: [{ kind: 'unavailable', reason: 'http_429: Too many requests for some devices and users', retry_after_ms: 30_000 }],
      },
    },
    {
      name: 'throttled: only the named user waits',
      events: [order, orderCompleted({}, { event_id: 'evt-7', user_id: 'user-2', anonymous_id: 'anon-2' })],
      reply: { status: 429, body: { error: 'slow', throttled_devices: { 'anon-2': 40 } } },
      verdict: {
        kind: 'partial',
        items: [
          { kind: 'unavailable', reason: 'http_429: sent together with rejected items' },
          { kind: 'unavailable', reason: 'http_429: slow', retry_after_ms: 30_000 },
        ],
      },
    },
  ],
);
