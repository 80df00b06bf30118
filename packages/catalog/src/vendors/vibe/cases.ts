import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import vibe from './vendor.ts';

const url = 'https://t.vibe.co/s2s-conversion/events';
const base = {
  eid: 'evt-1',
  aid: 'pX1234',
  ts: 1767323045678,
  ip: '203.0.113.7',
  ua: 'Mozilla/5.0 (X11; Linux x86_64)',
  url: 'https://shop.example/checkout?x=1',
  gid: '1234567890.1700000000',
};
const order = orderCompleted({ currency: 'usd' });

export default vendorCases(
  vibe,
  [
    {
      name: 'a purchase in US dollars: details as JSON text',
      event: order,
      requests: [{ method: 'POST', url, body: { ...base, a: 'purchase', ed: '{"purchase_id":"o-1","price_usd":42.5}' } }],
    },
    {
      name: 'the address of a partner',
      config: { partner_path: 'acme' },
      event: pageViewed(),
      requests: [{ url: `${url}/acme`, body: { ...base, eid: 'evt-2', a: 'page_view' } }],
    },
    {
      name: 'a purchase in euros has no price',
      event: orderCompleted(),
      requests: [{ body: { ...base, a: 'purchase', ed: '{"purchase_id":"o-1"}' } }],
    },
    { name: 'a page view', event: pageViewed(), requests: [{ body: { ...base, eid: 'evt-2', a: 'page_view' } }] },
    { name: 'an installed app', event: track('Application Installed'), requests: [{ body: { ...base, a: 'install' } }] },
    ...named(
      [
        ['Signed Up', 'signup', 'retail'],
        ['Lead Generated', 'lead', 'saas'],
      ],
      (event, a) => ({
        event: track(event),
        requests: [{ body: { ...base, a } }],
      }),
    ),
    {
      name: 'an IPv6 address is no household',
      event: track('Signed Up', {}, { context: { ...CONTEXT, ip: '2001:db8::1' } }),
      dropped: 'missing_required:ip',
    },
    { name: 'no IP address', event: track('Signed Up', {}, { context: {} }), dropped: 'missing_required:ip' },
    { name: 'an event of 8 days', event: order, now: '2026-01-10T03:04:06Z', dropped: 'event_too_old' },
    { name: 'a cart has no type', event: track('Product Added'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'received', events: [order], reply: { status: 200, body: '' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
