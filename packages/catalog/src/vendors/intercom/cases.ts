import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, camelNamed, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import intercom from './vendor.ts';

const api = 'https://api.intercom.io';
const headers = { Authorization: 'Bearer dG9rOjAxMjM0NTY3ODlhYmNkZWY=', 'Intercom-Version': '2.15' };
const search = { query: { field: 'external_id', operator: '=', value: 'user-1' } };
const contact = {
  role: 'user',
  external_id: 'user-1',
  email: 'anna.berg@example.com',
  phone: '+49 151 234-56789',
  name: 'Anna Berg',
  last_seen_at: 1767323045,
};
const order = orderCompleted();
const CONFLICT = (message: string) => ({ type: 'error.list', errors: [{ code: 'conflict', message }] });

const { user_id: _known, ...UNKNOWN } = identified({ traits: {}, context: {} });

export default vendorCases(intercom, [
  {
    name: 'an order, its value in cents, without its nested products',
    event: order,
    requests: [
      {
        method: 'POST',
        url: `${api}/events`,
        headers,
        body: {
          event_name: 'Order Completed',
          created_at: 1767323045,
          user_id: 'user-1',
          metadata: {
            order_id: 'o-1',
            total: 42.5,
            revenue: 35,
            tax: 5,
            shipping: 2.5,
            currency: 'eur',
            coupon: 'TEA10',
            price: { amount: 4250, currency: 'eur' },
          },
        },
      },
    ],
  },
  {
    name: 'a trial',
    config: { region: 'api.eu.intercom.io' },
    event: track('Trial Started', { plan: 'pro' }),
    requests: [
      {
        url: 'https://api.eu.intercom.io/events',
        body: { event_name: 'Trial Started', created_at: 1767323045, user_id: 'user-1', metadata: { plan: 'pro' } },
      },
    ],
  },
  {
    name: 'a long text is cut',
    event: track('Trial Started', { reason: 'a'.repeat(300) }),
    requests: [{ contains: { 'metadata.reason': 'a'.repeat(255) } }],
  },
  {
    name: 'a visitor who is known by address only',
    event: { ...bare('Demo Requested', { form: 'home' }), traits: { email: 'Anna@Example.com' } },
    requests: [{ body: { event_name: 'Demo Requested', created_at: 1767323045, email: 'anna@example.com', metadata: { form: 'home' } } }],
  },
  {
    name: 'identify creates a contact',
    event: identified(),
    replies: [
      { status: 200, body: { type: 'list', data: [], total_count: 0 } },
      { status: 200, body: { id: 'c-1' } },
    ],
    requests: [
      { method: 'POST', url: `${api}/contacts/search`, headers, body: search },
      { method: 'POST', url: `${api}/contacts`, headers, body: contact },
    ],
  },
  {
    name: "a name in camel case, as Segment's specification has it",
    event: camelNamed(),
    replies: [{ status: 200, body: { data: [{ id: 'c-1' }] } }, { status: 200 }],
    requests: [{ body: search }, { contains: { name: 'Anna Berg' } }],
  },
  {
    name: 'identify updates the contact',
    event: identified(),
    replies: [{ status: 200, body: { type: 'list', data: [{ id: 'c-1' }], total_count: 1 } }, { status: 200 }],
    requests: [
      { method: 'POST', url: `${api}/contacts/search`, body: search },
      { method: 'PUT', url: `${api}/contacts/c-1`, headers, body: contact },
    ],
  },
  {
    name: 'a contact that was created in between is updated',
    event: identified(),
    replies: [
      { status: 200, body: { data: [] } },
      { status: 409, body: CONFLICT('A contact matching those details already exists with id=c-1') },
      { status: 200, body: { data: [{ id: 'c-1' }] } },
      { status: 200 },
    ],
    requests: [
      { url: `${api}/contacts/search` },
      { method: 'POST', url: `${api}/contacts` },
      { method: 'POST', url: `${api}/contacts/search`, body: search },
      { method: 'PUT', url: `${api}/contacts/c-1`, headers, body: contact },
    ],
  },
  {
    name: 'a contact that the search does not know yet is looked for again',
    event: identified(),
    replies: [
      { status: 200, body: { data: [] } },
      { status: 409, body: CONFLICT('A contact matching those details already exists with id=c-1') },
      { status: 200, body: { type: 'list', data: [] } },
    ],
    requests: [{ url: `${api}/contacts/search` }, { url: `${api}/contacts` }, { url: `${api}/contacts/search` }],
    verdict: { kind: 'unavailable', reason: 'http_200' },
  },
  {
    name: 'an archived contact stays as it is',
    event: identified(),
    replies: [
      { status: 200, body: { data: [] } },
      { status: 409, body: CONFLICT('An archived contact matching those details already exists with id=c-1') },
    ],
    requests: [{ url: `${api}/contacts/search` }, { url: `${api}/contacts` }],
    verdict: { kind: 'refused', reason: 'http_409: An archived contact matching those details already exists with id=c-1' },
  },
  {
    name: 'a group is a company, and the contact belongs to it',
    event: grouped(),
    replies: [{ status: 200, body: { data: [{ id: 'c-1' }] } }, { status: 200, body: { id: 'co-1' } }, { status: 200 }],
    requests: [
      { url: `${api}/contacts/search`, body: search },
      { method: 'POST', url: `${api}/companies`, headers, body: { company_id: 'acme', name: 'Acme' } },
      { method: 'POST', url: `${api}/contacts/c-1/companies`, headers, body: { id: 'co-1' } },
    ],
  },
  {
    name: 'a group of a contact whom Intercom does not know',
    event: grouped(),
    replies: [
      { status: 200, body: { data: [] } },
      { status: 200, body: { id: 'co-1' } },
    ],
    requests: [{ url: `${api}/contacts/search` }, { url: `${api}/companies` }],
  },
  {
    name: 'a group of an unknown visitor: the address of the company is not that of a contact',
    event: { ...grouped({ traits: { name: 'Acme', email: 'info@acme.example' }, context: {} }), user_id: undefined as never },
    dropped: 'missing_required:search.query.value',
  },
  {
    name: 'a contact that Intercom rejects',
    event: identified(),
    replies: [
      { status: 200, body: { data: [] } },
      { status: 400, body: { type: 'error.list', errors: [{ code: 'parameter_invalid', message: 'email is invalid' }] } },
    ],
    requests: [{ url: `${api}/contacts/search` }, { method: 'POST', url: `${api}/contacts` }],
    verdict: { kind: 'refused', reason: 'http_400: email is invalid' },
  },
  { name: 'nobody', event: bare('Trial Started'), dropped: 'missing_required:event.user_id' },
  ...lacking({ 'search.query.value': UNKNOWN }),
  { name: 'pages are dropped', event: pageViewed(), dropped: 'mapping_default' },
]);
