import { ISOLATED, lacking, vendorCases } from '../shared/cases.ts';
import { bare, camelNamed, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import clevertap from './vendor.ts';

const url = 'https://api.clevertap.com/1/upload';
const headers = { 'X-CleverTap-Account-Id': 'W9R-486-4W5Z', 'X-CleverTap-Passcode': '6b4-2c0' };
const head = { identity: 'user-1', ts: 1767323045 };
const says = (...d: object[]) => [{ method: 'POST', url, headers, body: { d } }];
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { user_id: 'user-2', event_id: 'evt-7' });
const sentOrder = {
  ...head,
  type: 'event',
  evtName: 'Charged',
  evtData: {
    order_id: 'o-1',
    total: 42.5,
    revenue: 35,
    tax: 5,
    shipping: 2.5,
    currency: 'eur',
    coupon: 'TEA10',
    Amount: 42.5,
    'Charged ID': 'o-1',
    Items: [
      { 'Product ID': 'p-1', Name: 'Tea', Category: 'Drinks', Price: 10, Quantity: 2 },
      { 'Product ID': 'S2', Name: 'Cup', Price: 22.5 },
    ],
  },
};
const sentQuiz = { identity: 'user-2', ts: 1767323045, type: 'event', evtName: 'Quiz Taken', evtData: { score: 3 } };

export default vendorCases(
  clevertap,
  [
    { name: 'an order is Charged', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'another region',
      config: { region: 'in1.api.clevertap.com' },
      event: quiz,
      requests: [{ url: 'https://in1.api.clevertap.com/1/upload' }],
    },
    {
      name: 'long names and texts are cut',
      event: track('Quiz Taken', { ['k'.repeat(130)]: 'v'.repeat(600) }),
      requests: says({ ...head, type: 'event', evtName: 'Quiz Taken', evtData: { ['k'.repeat(120)]: 'v'.repeat(512) } }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        ...head,
        type: 'event',
        evtName: 'Page Viewed',
        evtData: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1' },
      }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: says({ ...head, type: 'event', evtName: 'Screen Viewed', evtData: { path: '/', screen_name: 'Home' } }),
    },
    {
      name: 'identify is a profile',
      event: identified({ traits: { ...identified().traits, plan: 'pro', gender: 'female', birthday: '1990-05-17' } }),
      requests: says({
        ...head,
        type: 'profile',
        profileData: {
          plan: 'pro',
          Name: 'Anna Berg',
          Email: 'anna.berg@example.com',
          Phone: '+4915123456789',
          Gender: 'F',
          DOB: '$D_642902400',
        },
      }),
    },
    {
      name: "a name in camel case, as Segment's specification has it",
      event: camelNamed(),
      requests: [{ contains: { 'd[0].profileData.Name': 'Anna Berg' } }],
    },
    {
      name: 'a birthday before 1970',
      event: identified({ traits: { name: 'Anna B.', birthday: '1969-12-31' } }),
      requests: [{ contains: { 'd[0].profileData': { Name: 'Anna B.', DOB: '$D_-86400' } } }],
    },
    {
      name: 'a long trait is cut',
      event: identified({ traits: { ['k'.repeat(130)]: 'v'.repeat(600) }, context: {} }),
      requests: says({ ...head, type: 'profile', profileData: { ['k'.repeat(120)]: 'v'.repeat(512) } }),
    },
    {
      name: 'a group is part of the profile',
      event: grouped(),
      requests: says({ ...head, type: 'profile', profileData: { group_id: 'acme', group_name: 'Acme' } }),
    },
    { name: 'an identify without traits', event: identified({ traits: {}, context: {} }), dropped: 'missing_required:profileData' },
    { name: 'an order without an id', event: orderCompleted({ order_id: null }), dropped: 'missing_required:evtData["Charged ID"]' },
    ...lacking({ 'evtData.Amount': track('Order Completed', { order_id: 'o-1' }) }),
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:identity' },
  ],
  [
    {
      name: 'processed',
      events: [order],
      reply: { status: 200, body: { status: 'success', processed: 1, unprocessed: [] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'some were rejected',
      events: [order, quiz],
      reply: {
        status: 200,
        body: {
          status: 'partial',
          processed: 1,
          unprocessed: [{ status: 'fail', code: 512, error: 'Invalid event', record: { identity: 'user-2' } }],
        },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_200: Invalid event' }] },
    },
    {
      name: 'all were rejected',
      events: [order],
      reply: { status: 200, body: { status: 'fail', error: 'Payload is invalid', code: 509 } },
      verdict: { kind: 'refused', reason: 'http_200: Payload is invalid' },
    },
    {
      name: 'a wrong passcode',
      events: [order],
      reply: { status: 401, body: { status: 'fail', error: 'Invalid credentials' } },
      verdict: { kind: 'refused' },
    },
    { name: 'a request that is too large', events: [order, order], reply: { status: 413 }, verdict: ISOLATED },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
