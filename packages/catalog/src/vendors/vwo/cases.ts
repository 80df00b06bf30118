import { vendorCases } from '../shared/cases.ts';
import { CONTEXT, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import vwo from './vendor.ts';

const url = (name: string) => `https://dev.visualwebsiteoptimizer.com/events/t?en=${name}&a=123456`;
const context = { ...CONTEXT, vendor_ids: { vwo_uuid: 'D0123456789ABCDEF' } };
const headers = { 'User-Agent': String(CONTEXT.user_agent), 'X-Forwarded-For': '203.0.113.7' };
const page = { url: 'https://shop.example/checkout?x=1', title: 'Checkout', referrerUrl: 'https://www.example.org/' };
const ours = { isCustomEvent: true, vwoMeta: { source: 'firsthand' }, page };
const head = (id: string) => ({ visId: 'D0123456789ABCDEF', msgId: `D0123456789ABCDEF-${id}`, sessionId: 1767323045 });
const time = 1767323045678;
const pageView = { name: 'vwo_pageView', time, props: { path: '/', ...ours, isCustomEvent: false, url: page.url } };
const order = orderCompleted({}, { context });

export default vendorCases(
  vwo,
  [
    {
      name: 'an order, without its nested products',
      event: order,
      requests: [
        {
          method: 'POST',
          url: url('Order%20Completed'),
          headers,
          body: {
            d: {
              ...head('evt-1'),
              event: {
                name: 'Order Completed',
                time,
                props: { order_id: 'o-1', total: 42.5, revenue: 42.5, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10', ...ours },
              },
            },
          },
        },
      ],
    },
    {
      name: 'any other event, in the EU',
      variant: 'saas',
      config: { path: 'eu01/events' },
      event: track('quizTaken', { score: 3 }, { context }),
      requests: [
        {
          url: 'https://dev.visualwebsiteoptimizer.com/eu01/events/t?en=quizTaken&a=123456',
          headers,
          body: { d: { ...head('evt-1'), event: { name: 'quizTaken', time, props: { score: 3, ...ours } } } },
        },
      ],
    },
    {
      name: 'a page',
      event: pageViewed({ context }),
      requests: [
        {
          url: url('vwo_pageView'),
          headers,
          body: { d: { ...head('evt-2'), event: pageView } },
        },
      ],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { vendor_ids: context.vendor_ids } }),
      requests: [
        {
          url: url('screen_view'),
          body: {
            d: {
              ...head('evt-2'),
              event: { name: 'screen_view', time, props: { path: '/', isCustomEvent: true, vwoMeta: { source: 'firsthand' } } },
            },
          },
        },
      ],
    },
    {
      name: 'the cookie under its own name',
      event: pageViewed({ context: { ...CONTEXT, vendor_ids: { _vwo_uuid: 'D0123456789ABCDEF' } } }),
      requests: [{ headers, body: { d: { ...head('evt-2'), event: pageView } } }],
    },
    { name: 'a visitor without the cookie', event: orderCompleted(), dropped: 'missing_required:d.visId' },
    { name: 'identify is not sent', event: identified({ context }), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped({ context }), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200 }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
