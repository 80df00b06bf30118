import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import resend from './vendor.ts';

const headers = { Authorization: 'Bearer re_0123456789_abcdefghijklmnopqrstuv' };
const contact = 'https://api.resend.com/contacts/anna.berg%40example.com';
const order = orderCompleted();

export default vendorCases(resend, [
  {
    name: 'an order',
    event: order,
    requests: [
      {
        method: 'POST',
        url: 'https://api.resend.com/events/send',
        headers,
        body: { event: 'Order Completed', email: 'anna.berg@example.com', payload: order.properties },
      },
    ],
  },
  {
    name: 'any other event',
    variant: 'saas',
    event: track('Quiz Taken', { score: 3 }),
    requests: [{ body: { event: 'Quiz Taken', email: 'anna.berg@example.com', payload: { score: 3 } } }],
  },
  {
    name: 'identify updates the contact',
    event: identified(),
    replies: [{ status: 200, body: { object: 'contact', id: 'c-1' } }],
    requests: [{ method: 'PATCH', url: contact, headers, body: { first_name: 'Anna', last_name: 'Berg' } }],
  },
  {
    name: 'identify creates the contact',
    event: identified(),
    replies: [{ status: 404, body: { name: 'not_found', message: 'Contact not found' } }, { status: 201 }],
    requests: [
      { method: 'PATCH', url: contact },
      {
        method: 'POST',
        url: 'https://api.resend.com/contacts',
        headers,
        body: { email: 'anna.berg@example.com', first_name: 'Anna', last_name: 'Berg' },
      },
    ],
  },
  {
    name: 'a contact that is not valid ends the event',
    event: identified(),
    replies: [{ status: 422, body: { name: 'validation_error', message: 'Invalid email' } }],
    requests: [{ url: contact }],
  },
  { name: 'a name that Resend reserves', event: track('resend:opened'), dropped: 'mapping_default' },
  { name: 'no address', event: bare('Quiz Taken'), dropped: 'missing_required:email' },
  { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
  { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
]);
