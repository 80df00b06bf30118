import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import mixpanel from './vendor.ts';

const token = '6972694d809c7390676a138834f8c890';
const url = 'https://api.mixpanel.com/import?strict=1';
// Basic, the project token and an empty password.
const headers = { Authorization: 'Basic Njk3MjY5NGQ4MDljNzM5MDY3NmExMzg4MzRmOGM4OTA6' };
const order = orderCompleted();
const who = { distinct_id: 'user-1', $device_id: 'anon-1', $user_id: 'user-1' };
const time = 1767323045678;
const web = { ip: '203.0.113.7', $current_url: 'https://shop.example/checkout?x=1', $referrer: 'https://www.example.org/' };
const sentOrder = { event: 'Order Completed', properties: { ...order.properties, time, $insert_id: 'evt-1', ...who, ...web } };
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7', traits: {}, context: {} });
/** The address of an event without one: Mixpanel must not locate the server that sends it. */
const nowhere = { ip: 0 };
const sentQuiz = { event: 'Quiz Taken', properties: { score: 3, time, $insert_id: 'evt-7', ...who, ...nowhere } };

export default vendorCases(
  mixpanel,
  [
    { name: 'an order', event: order, requests: [{ method: 'POST', url, headers, body: [sentOrder] }] },
    {
      name: 'a batch, in the EU',
      config: { region: 'api-eu.mixpanel.com' },
      event: order,
      batched: [quiz],
      requests: [{ url: 'https://api-eu.mixpanel.com/import?strict=1', body: [sentOrder, sentQuiz] }],
    },
    { name: 'any other event under its own name', variant: 'saas', event: quiz, requests: [{ url, body: [sentQuiz] }] },
    {
      name: 'an anonymous visitor',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      requests: [
        {
          body: [
            {
              event: 'Quiz Taken',
              properties: { time, $insert_id: 'evt-9', distinct_id: '$device:anon-1', $device_id: 'anon-1', ...nowhere },
            },
          ],
        },
      ],
    },
    {
      name: 'an event id that is no $insert_id is hashed to 36 characters',
      event: { ...quiz, event_id: 'node-next-1767323045678-0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' },
      requests: [
        {
          // printf 'node-next-…' | sha256sum | cut -c1-36
          body: [
            {
              event: 'Quiz Taken',
              properties: { score: 3, time, $insert_id: 'b6755a82c4978fa323c2c4cd93d3068e821a', ...who, ...nowhere },
            },
          ],
        },
      ],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: [
        {
          body: [
            {
              event: 'Page Viewed',
              properties: { path: '/', time, $insert_id: 'evt-2', ...who, ...web, page_name: 'Home', current_page_title: 'Checkout' },
            },
          ],
        },
      ],
    },
    {
      name: 'a screen of an app, and the group of its user',
      event: pageViewed({
        original_type: 'screen',
        context: {
          group_id: 'acme',
          campaign: { source: 'news', medium: 'email', name: 'may' },
          app: { version: '2.1', namespace: 'com.shop' },
          os: { name: 'iOS', version: '18' },
          device: { manufacturer: 'Apple', model: 'iPhone16,1' },
          screen: { width: 390, height: 844 },
        },
      }),
      requests: [
        {
          body: [
            {
              event: 'Screen Viewed',
              properties: {
                path: '/',
                time,
                $insert_id: 'evt-2',
                ...who,
                ...nowhere,
                company: 'acme',
                utm_source: 'news',
                utm_medium: 'email',
                utm_campaign: 'may',
                $os: 'iOS',
                $os_version: '18',
                $manufacturer: 'Apple',
                $model: 'iPhone16,1',
                $app_version_string: '2.1',
                $screen_width: 390,
                $screen_height: 844,
                screen_name: 'Home',
              },
            },
          ],
        },
      ],
    },
    {
      name: 'identify sets the profile, under Mixpanel’s own names where it has them',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.mixpanel.com/engage?ip=0&strict=1',
          body: [
            {
              $token: token,
              $distinct_id: 'user-1',
              $set: {
                $email: 'anna.berg@example.com',
                $phone: '+4915123456789',
                $first_name: 'Anna',
                $last_name: 'Berg',
                address: { city: 'New York', state: 'New York', postal_code: '10001-1234', country: 'US' },
              },
            },
          ],
        },
      ],
    },
    {
      name: 'a phone number without a country code is one of the country of the address',
      event: identified({ traits: { phone: '(0151) 234-56789', address: { country: 'DE' } } }),
      requests: [{ contains: { '[0].$set.$phone': '+4915123456789' } }],
    },
    {
      name: 'group sets the group’s profile, and adds the group to the user’s',
      event: grouped(),
      requests: [
        {
          url: 'https://api.mixpanel.com/engage?ip=0&strict=1',
          body: [{ $token: token, $distinct_id: 'user-1', $union: { company: ['acme'] } }],
        },
        {
          url: 'https://api.mixpanel.com/groups?ip=0&strict=1',
          body: [{ $token: token, $group_key: 'company', $group_id: 'acme', $set: { name: 'Acme' } }],
        },
      ],
    },
    {
      name: 'a group without traits is only added to the user’s profile',
      event: grouped({ traits: {} }),
      requests: [
        {
          url: 'https://api.mixpanel.com/engage?ip=0&strict=1',
          body: [{ $token: token, $distinct_id: 'user-1', $union: { company: ['acme'] } }],
        },
      ],
    },
    {
      name: 'a list has fewer than 255 elements',
      event: { ...quiz, properties: { answers: Array.from({ length: 300 }, (_, index) => index) } },
      requests: [{ contains: { '[0].properties.answers': Array.from({ length: 254 }, (_, index) => index) } }],
    },
    { name: 'an identify without traits', event: identified({ traits: {}, context: {} }), dropped: 'missing_required:profile.$set' },
    {
      name: 'an alias has no function',
      event: identified({ original_type: 'alias', traits: {}, context: { previous_id: 'old-1' } }),
      dropped: 'mapping_filter',
    },
    ...(
      [
        ['macOS', 'Safari', '17.4.1', 'Mac OS X', 'Safari', 17.4],
        ['iOS', 'Safari', '17.4', 'iOS', 'Mobile Safari', 17.4],
        ['iOS', 'Chrome', '124.0.6367.88', 'iOS', 'Chrome iOS', 124],
        ['iOS', 'Firefox', '125.0', 'iOS', 'Firefox iOS', 125],
        ['Android', 'Samsung Internet for Android', '24.0', 'Android', 'Samsung Internet', 24],
        ['Android', 'Android Browser', '4.0', 'Android', 'Android Mobile', 4],
        ['Windows', 'Microsoft Edge', '124.0.2478.51', 'Windows', 'Microsoft Edge', 124],
        ['Chrome OS', 'Chrome', '124', 'Chrome OS', 'Chrome', 124],
      ] as const
    ).map(([os, browser, version, $os, $browser, $browser_version]) => ({
      name: `${browser} on ${os} in the spelling of the browser library`,
      event: track('Quiz Taken', {}, { context: { os: { name: os }, browser: { name: browser, version } } }),
      requests: [
        {
          contains: { '[0].properties.$os': $os, '[0].properties.$browser': $browser, '[0].properties.$browser_version': $browser_version },
        },
      ],
    })),
    { name: 'nobody to count', event: bare('Quiz Taken'), dropped: 'missing_required:events[0].properties.distinct_id' },
  ],
  [
    {
      name: 'imported',
      events: [order],
      reply: { status: 200, body: { code: 200, num_records_imported: 1, status: 'OK' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'the named event is at fault, the other one is stored',
      events: [order, quiz],
      reply: {
        status: 400,
        body: {
          code: 400,
          num_records_imported: 1,
          status: 'Bad Request',
          failed_records: [{ index: 1, insert_id: 'evt-1', field: 'properties.time', message: "'properties.time' is invalid" }],
        },
      },
      verdict: {
        kind: 'partial',
        items: [{ kind: 'delivered' }, { kind: 'refused', reason: "http_400: 'properties.time' is invalid" }],
      },
    },
    {
      name: 'a profile that is not valid, in a 200',
      events: [identified(), identified({ event_id: 'evt-9' })],
      reply: { status: 200, body: { code: 400, failed_records: [{ index: 0, message: '$distinct_id is required' }] } },
      verdict: { kind: 'partial', items: [{ kind: 'refused', reason: 'http_200: $distinct_id is required' }, { kind: 'delivered' }] },
    },
    {
      name: 'a wrong token',
      events: [order],
      reply: { status: 401, body: { code: 401, error: 'Invalid credentials', status: 'Unauthorized' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid credentials' },
    },
    {
      name: 'too large together',
      events: [order, quiz],
      reply: { status: 413, body: { code: 413, error: 'request exceeds max limit of 2097152 bytes' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, body: { code: 429, error: 'Project exceeded rate limits.' } },
      verdict: { kind: 'unavailable', reason: 'http_429: Project exceeded rate limits.' },
    },
    { name: 'a profile that is not valid', events: [identified()], reply: { status: 200, body: '0' }, verdict: { kind: 'refused' } },
    { name: 'a profile that is', events: [identified()], reply: { status: 200, body: '1' }, verdict: { kind: 'delivered' } },
  ],
);
