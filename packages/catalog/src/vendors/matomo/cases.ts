import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, PRODUCTS, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import matomo from './vendor.ts';

const url = 'https://example.matomo.cloud/matomo.php';
const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
const form = (fields: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString();
const head = {
  rec: 1,
  send_image: 0,
  // The first 16 characters of the SHA-256 of anon-1.
  _id: '2e96105c29d2c92c',
  uid: 'user-1',
  cdt: '2026-01-02 03:04:05',
  apiv: 1,
};
const web = {
  ...head,
  url: 'https://shop.example/checkout?x=1',
  urlref: 'https://www.example.org/',
  ua: CONTEXT.user_agent,
  lang: 'de-DE',
};
const site = { idsite: 1 };
const says = (fields: Record<string, unknown>) => [{ method: 'POST', url, headers, body: form({ ...fields, ...site }) }];
const token = '0123456789abcdef0123456789abcdef';
const items = '[["p-1","Tea","Drinks",10,2],["S2","Cup","",22.5,1]]';
const order = orderCompleted();

export default vendorCases(
  matomo,
  [
    {
      name: 'an order with its items',
      event: order,
      requests: says({ ...web, idgoal: 0, ec_id: 'o-1', revenue: 42.5, ec_tx: 5, ec_sh: 2.5, ec_items: items }),
    },
    { name: 'a page', event: pageViewed(), requests: says({ ...web, action_name: 'Checkout' }) },
    {
      name: 'a page with the address of the visitor, which needs the token',
      config: { token_auth: token },
      event: pageViewed(),
      requests: [{ url, body: form({ ...web, cip: '203.0.113.7', action_name: 'Checkout', ...site, token_auth: token }) }],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { namespace: 'com.shop' }, screen: { width: 390, height: 844 } } }),
      requests: says({ ...head, url: 'app://com.shop/Home', res: '390x844', action_name: 'Home' }),
    },
    {
      name: 'a product view',
      event: productViewed(),
      requests: says({ ...web, action_name: 'Checkout', _pks: 'p-1', _pkn: 'Tea', _pkc: 'Drinks', _pkp: 10 }),
    },
    {
      name: 'a product list',
      variant: 'retail',
      event: track('Product List Viewed', { category: 'Drinks' }),
      requests: says({ ...web, action_name: 'Checkout', _pkc: 'Drinks' }),
    },
    {
      name: 'a search',
      event: track('Products Searched', { query: 'tea', results: 0 }),
      requests: says({ ...web, search: 'tea', search_count: 0 }),
    },
    {
      name: 'a cart',
      event: track('Cart Viewed', { products: PRODUCTS }),
      requests: says({ ...web, idgoal: 0, revenue: 42.5, ec_items: items }),
    },
    {
      name: 'any other event',
      event: track('Quiz Taken', { label: 'Tea quiz', value: 3 }, { context: {} }),
      requests: says({ ...head, e_c: 'Events', e_n: 'Tea quiz', e_v: 3, ca: 1, e_a: 'Quiz Taken' }),
    },
    {
      name: 'a standard event that Matomo has no call for',
      variant: 'media',
      event: track('Video Playback Started', { title: 'Tea' }, { context: {} }),
      requests: says({ ...head, e_c: 'Events', e_n: 'Tea', ca: 1, e_a: 'Video Playback Started' }),
    },
    {
      name: 'a visitor id of Matomo’s own form stays',
      event: track('Quiz Taken', {}, { anonymous_id: '0123456789abcdef', context: {} }),
      requests: says({ ...head, _id: '0123456789abcdef', e_c: 'Events', ca: 1, e_a: 'Quiz Taken' }),
    },
    { name: 'an order without an id', event: orderCompleted({ order_id: null }), dropped: 'missing_required:ec_id' },
    {
      name: 'an order without a value',
      event: orderCompleted({ total: null, revenue: null, products: null }),
      dropped: 'missing_required:revenue',
    },
    { name: 'a page without an address', event: pageViewed({ context: {} }), dropped: 'missing_required:url' },
    { name: 'a search for nothing', event: track('Products Searched'), dropped: 'missing_required:search' },
    ...lacking({ action_name: { ...pageViewed({ original_type: 'screen' }), name: '' }, _pks: track('Product Viewed', { name: 'Tea' }) }),
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:_id' },
    { name: 'identify has no call of its own', event: identified(), dropped: 'mapping_filter' },
    { name: 'nor has group', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 204 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: 'Tracker API requires a site' },
      verdict: { kind: 'refused', reason: 'http_400: Tracker API requires a site' },
    },
    { name: 'a wrong token', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
    { name: 'they gave up waiting', events: [order], reply: { status: 408 }, verdict: { kind: 'unavailable' } },
  ],
);
