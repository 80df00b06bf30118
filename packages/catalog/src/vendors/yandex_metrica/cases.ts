import { lacking, vendorCases } from '../shared/cases.ts';
import { CONTEXT, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import yandexMetrica from './vendor.ts';

const context = { ...CONTEXT, vendor_ids: { ym_uid: '1700000000123456789' } };
const form = (fields: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString();
const head = {
  cid: '1700000000123456789',
  et: 1767323045,
  dl: 'https://shop.example/checkout?x=1',
  dr: 'https://www.example.org/',
  dt: 'Checkout',
};
const keys = { tid: '12345678', ms: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' };
const says = (fields: Record<string, unknown>) => [
  {
    method: 'POST',
    url: 'https://mc.yandex.ru/collect',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: form({ ...head, ...fields, ...keys }),
  },
];
const order = orderCompleted({}, { context });

export default vendorCases(
  yandexMetrica,
  [
    {
      name: 'an order with its numbered products',
      event: order,
      requests: says({
        t: 'event',
        ea: 'Order Completed',
        pa: 'purchase',
        ti: 'o-1',
        tr: 42.5,
        tcc: 'TEA10',
        pr1id: 'p-1',
        pr1nm: 'Tea',
        pr1pr: 10,
        pr1qt: 2,
        pr1ca: 'Drinks',
        pr1br: 'Leaf',
        pr2id: 'S2',
        pr2nm: 'Cup',
        pr2pr: 22.5,
      }),
    },
    {
      name: 'a product',
      variant: 'retail',
      event: productViewed({ context }),
      requests: says({ t: 'event', ea: 'Product Viewed', pa: 'detail', pr1id: 'p-1', pr1nm: 'Tea', pr1pr: 10, pr1ca: 'Drinks' }),
    },
    { name: 'a page', event: pageViewed({ context }), requests: says({ t: 'pageview' }) },
    { name: 'any other event is a goal', event: track('quiz_taken', {}, { context }), requests: says({ t: 'event', ea: 'quiz_taken' }) },
    { name: 'an order without an id', event: orderCompleted({ order_id: null }, { context }), dropped: 'missing_required:ti' },
    ...lacking({
      dl: pageViewed({ context: { vendor_ids: context.vendor_ids } }),
      tr: track('Order Completed', { order_id: 'o-1' }, { context }),
    }),
    { name: 'a visitor without a ClientID', event: orderCompleted(), dropped: 'missing_required:cid' },
    { name: 'an event that is too old', event: order, now: '2026-01-02T16:04:05.678Z', dropped: 'event_too_old' },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: '<!-- OK -->' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 502 }, verdict: { kind: 'unavailable' } },
  ],
);
