import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, PRODUCTS, pageViewed, track } from '../shared/sample-events.ts';
import piwikPro from './vendor.ts';

const url = 'https://example.piwik.pro/ppms.php';
const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
const form = (fields: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString();
const head = { rec: 1, send_image: 0, _id: '2e96105c29d2c92c', uid: 'user-1', cdt: '2026-01-02 03:04:05' };
const web = {
  ...head,
  url: 'https://shop.example/checkout?x=1',
  urlref: 'https://www.example.org/',
  ua: CONTEXT.user_agent,
  lang: 'de-DE',
  cip: '203.0.113.7',
};
const site = { idsite: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' };
const says = (fields: Record<string, unknown>) => [{ method: 'POST', url, headers, body: form({ ...fields, ...site }) }];
const items = '[["p-1","Tea","Drinks",10,2],["S2","Cup","",22.5,1]]';
const order = orderCompleted();

export default vendorCases(
  piwikPro,
  [
    {
      name: 'an order',
      event: order,
      requests: says({ ...web, idgoal: 0, ec_id: 'o-1', revenue: 42.5, ec_tx: 5, ec_sh: 2.5, ec_items: items }),
    },
    {
      name: 'a cart',
      variant: 'retail',
      event: track('Cart Viewed', { products: PRODUCTS }),
      requests: says({ ...web, idgoal: 0, revenue: 42.5, ec_items: items }),
    },
    { name: 'a page', event: pageViewed(), requests: says({ ...web, action_name: 'Checkout' }) },
    {
      name: 'a search in a category',
      event: track('Products Searched', { query: 'tea', category: 'Drinks', results: 4 }),
      requests: says({ ...web, search: 'tea', search_count: 4, search_cats: '["Drinks"]' }),
    },
    {
      name: 'any other event',
      event: track('Quiz Taken', { label: 'Tea quiz', value: 3 }),
      requests: says({ ...web, e_c: 'Events', e_n: 'Tea quiz', e_v: 3, e_a: 'Quiz Taken' }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { namespace: 'com.shop' }, user_agent: 'ShopApp/2' } }),
      requests: says({ ...head, url: 'app://com.shop/Home', ua: 'ShopApp/2', action_name: 'Home' }),
    },
    { name: 'an order without an id', event: orderCompleted({ order_id: null }), dropped: 'missing_required:ec_id' },
    ...lacking({ search: track('Products Searched'), revenue: track('Order Completed', { order_id: 'o-1' }) }),
    { name: 'no page', event: track('Quiz Taken', {}, { context: {} }), dropped: 'missing_required:url' },
    {
      name: 'nobody',
      event: { ...bare('Quiz Taken'), context: { page: { url: 'https://shop.example/' } } },
      dropped: 'missing_required:_id',
    },
    { name: 'an event that is too old', event: order, now: '2026-01-03T04:04:05.678Z', dropped: 'event_too_old' },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 204 }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
