import { vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, camelNamed, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import countly from './vendor.ts';

const AT = 1767323045678;
const who = { device_id: 'user-1', timestamp: AT, ip_address: CONTEXT.ip };
/** A form with the app key and a JSON list. */
const form = (...requests: object[]) =>
  `app_key=9a4d196c01d3ca82876c0398ab774e5e&requests=${encodeURIComponent(JSON.stringify(requests)).replaceAll('%20', '+')}`;
const happened = (key: string, segmentation: object, more: object = {}) => ({ count: 1, segmentation, timestamp: AT, ...more, key });
const signedUp = { ...who, events: [happened('Signed Up', { method: 'email' })] };

export default vendorCases(
  countly,
  [
    {
      name: 'a group is an event with its id',
      event: grouped(),
      requests: [{ body: form({ ...who, events: [happened('group', { group_id: 'acme', group_name: 'Acme' })] }) }],
    },
    {
      name: "a name in camel case, as Segment's specification has it",
      event: camelNamed(),
      requests: [
        {
          body: form({
            device_id: 'user-1',
            timestamp: AT,
            user_details: {
              ...{ name: 'Anna Berg', email: 'anna.berg@example.com' },
              custom: { email: 'anna.berg@example.com', firstName: 'Anna', lastName: 'Berg' },
            },
          }),
        },
      ],
    },
    {
      name: 'an event under its own name',
      event: track('Signed Up', { method: 'email' }),
      requests: [
        {
          method: 'POST',
          url: 'https://acme.count.ly/i/bulk',
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          body: form(signedUp),
        },
      ],
    },
    {
      name: 'an order has its total as sum, and flat segmentation',
      event: orderCompleted({ coupon: null }),
      requests: [
        {
          body: form({
            ...who,
            events: [
              happened(
                'Order Completed',
                { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur' },
                { sum: 42.5 },
              ),
            ],
          }),
        },
      ],
    },
    {
      name: 'a page view',
      event: pageViewed(),
      requests: [
        {
          body: form({
            ...who,
            events: [happened('[CLY]_view', { path: '/', name: 'Home', visit: 1 })],
          }),
        },
      ],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', name: 'Cart', properties: {}, context: {} }),
      requests: [
        {
          body: form({
            device_id: 'user-1',
            timestamp: AT,
            events: [happened('[CLY]_view', { name: 'Cart', visit: 1 })],
          }),
        },
      ],
    },
    {
      name: 'an identify writes user details and no event',
      event: identified({ traits: { name: 'Anna Berg', email: ' Anna@Example.com ', plan: 'pro' } }),
      requests: [
        {
          body: form({
            ...who,
            user_details: {
              name: 'Anna Berg',
              email: 'anna@example.com',
              custom: { name: 'Anna Berg', email: ' Anna@Example.com ', plan: 'pro' },
            },
          }),
        },
      ],
    },
    {
      name: 'a batch is one list',
      event: track('Signed Up', { method: 'email' }),
      batched: [track('Signed Up', { method: 'email' })],
      requests: [{ body: form(signedUp, signedUp) }],
    },
    {
      name: 'an event that nobody mapped',
      event: track('Quiz Taken', { score: 3 }),
      requests: [{ body: form({ ...who, events: [happened('Quiz Taken', { score: 3 })] }) }],
    },
    { name: 'nobody', event: bare('Signed Up'), dropped: 'missing_required:device_id' },
  ],
  [
    { name: 'accepted', events: [orderCompleted()], reply: { status: 200, body: { result: 'Success' } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [orderCompleted()],
      reply: { status: 400, body: { result: 'App does not exist' } },
      verdict: { kind: 'refused', reason: 'http_400: App does not exist' },
    },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);
