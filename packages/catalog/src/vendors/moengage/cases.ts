import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import moengage from './vendor.ts';

const api = (path: string) => `https://api-01.moengage.com/v1/${path}/0123456789ABCDEFGHIJKLMN`;
// Basic, workspace and key.
const headers = { Authorization: 'Basic MDEyMzQ1Njc4OUFCQ0RFRkdISUpLTE1OOmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eA==' };
const time = { current_time: 1767323045 };
const says = (action: object, customer_id = 'user-1') => [
  { method: 'POST', url: api('event'), headers, body: { type: 'event', customer_id, actions: [{ ...time, ...action }] } },
];
const order = orderCompleted();

export default vendorCases(
  moengage,
  [
    { name: 'an order', event: order, requests: says({ action: 'Order Completed', attributes: order.properties, platform: 'web' }) },
    {
      name: 'any other event of an anonymous visitor, in another data centre',
      variant: 'saas',
      config: { data_center: 'api-101.moengage.com' },
      event: { ...bare('Quiz Taken', { score: 3 }), anonymous_id: 'anon-1' },
      requests: [
        {
          url: 'https://api-101.moengage.com/v1/event/0123456789ABCDEFGHIJKLMN',
          body: { type: 'event', customer_id: 'anon-1', actions: [{ ...time, action: 'Quiz Taken', attributes: { score: 3 } }] },
        },
      ],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        action: 'Page Viewed',
        attributes: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1' },
        platform: 'web',
      }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { version: '2' }, os: { name: 'Android' } } }),
      requests: says({ action: 'Screen Viewed', attributes: { path: '/', screen_name: 'Home' }, platform: 'ANDROID', app_version: '2' }),
    },
    {
      name: 'identify',
      event: identified({ traits: { ...identified().traits, plan: 'pro', id: 'x', _id: 'y' } }),
      requests: [
        {
          method: 'POST',
          url: api('customer'),
          headers,
          body: {
            type: 'customer',
            customer_id: 'user-1',
            attributes: { plan: 'pro', email: 'anna.berg@example.com', mobile: '+4915123456789', first_name: 'Anna', last_name: 'Berg' },
          },
        },
      ],
    },
    {
      name: 'a group is an attribute',
      event: grouped(),
      requests: [
        { url: api('customer'), body: { type: 'customer', customer_id: 'user-1', attributes: { group_id: 'acme', group_name: 'Acme' } } },
      ],
    },
    { name: 'a name that MoEngage reserves', event: track('moe_install'), dropped: 'mapping_default' },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:event.customer_id' },
  ],
  [
    { name: 'queued', events: [order], reply: { status: 200, body: { status: 'success' } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { status: 'fail', error: { message: 'actions is required', type: 'ParamsRequired' } } },
      verdict: { kind: 'refused', reason: 'http_400: actions is required' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { status: 'fail', error: { message: 'Authentication required' } } },
      verdict: { kind: 'refused', reason: 'http_401: Authentication required' },
    },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
