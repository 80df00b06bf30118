import { vendorCases } from '../shared/cases.ts';
import { bare, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import salesforceMarketingCloud from './vendor.ts';

const rest = 'https://mc563885gzs27c5t9-63k636ttgm.rest.marketingcloudapis.com';
const headers = { Authorization: 'Bearer access-token' };
const journeys = {
  journeys: [
    { event: 'Order Completed', event_definition_key: 'APIEvent-order' },
    { event: 'Quiz Taken', event_definition_key: 'APIEvent-quiz' },
  ],
};
const contacts = { data_extension_key: 'Contacts_Firsthand' };
const EmailAddress = 'anna.berg@example.com';
const order = orderCompleted();
const ben = identified({ event_id: 'evt-7', user_id: 'user-2', traits: { email: 'Ben@Example.com' } });
const row = { SubscriberKey: 'user-1', EmailAddress, FirstName: 'Anna', LastName: 'Berg', MobileNumber: '+4915123456789' };

export default vendorCases(
  salesforceMarketingCloud,
  [
    {
      name: 'an order starts its journey',
      config: journeys,
      event: order,
      requests: [
        {
          method: 'POST',
          url: `${rest}/interaction/v1/events`,
          headers,
          body: {
            ContactKey: 'user-1',
            EventDefinitionKey: 'APIEvent-order',
            Data: { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10', EmailAddress },
          },
        },
      ],
    },
    {
      name: 'an event of no standard',
      config: journeys,
      event: track('Quiz Taken', { score: 3 }),
      requests: [{ body: { ContactKey: 'user-1', EventDefinitionKey: 'APIEvent-quiz', Data: { score: 3, EmailAddress } } }],
    },
    {
      name: 'identify writes a row',
      config: contacts,
      event: identified(),
      requests: [
        { method: 'PUT', url: `${rest}/data/v1/async/dataextensions/key:Contacts_Firsthand/rows`, headers, body: { items: [row] } },
      ],
    },
    {
      name: 'a batch of rows',
      config: contacts,
      event: identified(),
      batched: [ben],
      requests: [{ body: { items: [row, { SubscriberKey: 'user-2', EmailAddress: 'ben@example.com' }] } }],
    },
    {
      name: 'without a user id the normalised address is the key',
      config: contacts,
      event: identified({ user_id: undefined as never }),
      requests: [{ body: { items: [{ ...row, SubscriberKey: EmailAddress }] } }],
    },
    { name: 'identify without a data extension', event: identified(), dropped: 'mapping_filter' },
    { name: 'an event without a journey', variant: 'retail', event: order, dropped: 'mapping_filter' },
    { name: 'a page', config: journeys, event: pageViewed(), dropped: 'mapping_default' },
    { name: 'nobody', config: journeys, event: bare('Quiz Taken'), dropped: 'missing_required:journey.ContactKey' },
  ],
  [
    {
      name: 'entered',
      config: journeys,
      events: [order],
      reply: { status: 201, body: { eventInstanceId: 'e-1' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'an unknown event definition key',
      config: journeys,
      events: [order],
      reply: { status: 400, body: { message: 'The event definition key was not found', errorcode: 30003 } },
      verdict: { kind: 'refused', reason: 'http_400: The event definition key was not found' },
    },
    {
      name: 'rows queued',
      config: contacts,
      events: [identified()],
      reply: { status: 202, body: { requestId: 'r-1' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one of several rows is not valid',
      config: contacts,
      events: [identified(), ben],
      reply: { status: 400, body: { message: 'invalid column' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'the token has expired',
      config: journeys,
      events: [order],
      reply: { status: 401, body: { message: 'Not Authorized' } },
      verdict: { kind: 'unavailable', reason: 'http_401: Not Authorized', refresh_token: true },
    },
    { name: 'throttled', config: journeys, events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', config: journeys, events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
