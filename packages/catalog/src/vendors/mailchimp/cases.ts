import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import mailchimp from './vendor.ts';

// MD5 of anna.berg@example.com.
const member = 'https://us21.api.mailchimp.com/3.0/lists/a1b2c3d4e5/members/82d601a42c8dd91bfc8b0e6cc783b330';
const put = `${member}?skip_merge_validation=true`;
// Basic, any name and the key.
const headers = { Authorization: 'Basic Zmlyc3RoYW5kOjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVmLXVzMjE=' };
const anna = { email_address: 'anna.berg@example.com', status_if_new: 'transactional' };
const found = { status: 200, body: { id: '82d601a42c8dd91bfc8b0e6cc783b330' } };

export default vendorCases(mailchimp, [
  {
    name: 'an event: the member is added, then the event',
    variant: 'saas',
    event: track('Feature Used', { feature: 'export', count: 3 }),
    replies: [found, { status: 204 }],
    requests: [
      { method: 'PUT', url: put, headers, body: anna },
      {
        method: 'POST',
        url: `${member}/events`,
        headers,
        body: { name: 'Feature_Used', occurred_at: '2026-01-02T03:04:05.678Z', properties: { feature: 'export', count: '3' } },
      },
    ],
  },
  {
    name: 'an order, its nested products as text',
    event: orderCompleted({ products: [{ sku: 'S2' }] }),
    replies: [found, { status: 204 }],
    requests: [
      { url: put },
      {
        url: `${member}/events`,
        body: {
          name: 'Order_Completed',
          occurred_at: '2026-01-02T03:04:05.678Z',
          properties: {
            order_id: 'o-1',
            total: '42.5',
            revenue: '35',
            tax: '5',
            shipping: '2.5',
            currency: 'eur',
            coupon: 'TEA10',
            products: '[{"sku":"S2"}]',
          },
        },
      },
    ],
  },
  {
    name: 'a name is cut to 30 characters',
    event: track('A very long name of an event of ours'),
    replies: [found],
    requests: [{ url: put }, { body: { name: 'A_very_long_name_of_an_event_o', occurred_at: '2026-01-02T03:04:05.678Z', properties: {} } }],
  },
  {
    name: 'a member in a compliance state ends the event',
    event: track('Feature Used'),
    replies: [{ status: 400, body: { title: 'Member In Compliance State', detail: 'anna.berg@example.com is in a compliance state' } }],
    verdict: { kind: 'refused', reason: 'http_400: anna.berg@example.com is in a compliance state' },
    requests: [{ url: put }],
  },
  {
    name: 'identify',
    config: { status_if_new: 'subscribed' },
    event: identified(),
    requests: [
      {
        method: 'PUT',
        url: put,
        headers,
        body: {
          email_address: 'anna.berg@example.com',
          status_if_new: 'subscribed',
          merge_fields: { FNAME: 'Anna', LNAME: 'Berg', PHONE: '+49 151 234-56789' },
        },
      },
    ],
  },
  { name: 'no address', event: bare('Feature Used'), dropped: 'missing_required:member.email_address' },
  { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
  { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
]);
