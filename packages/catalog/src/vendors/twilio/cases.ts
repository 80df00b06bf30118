import { vendorCases } from '../shared/cases.ts';
import { messageCases } from '../shared/message-cases.ts';
import { orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import twilio from './vendor.ts';

const url = 'https://api.twilio.com/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json';
// Basic, key and secret.
const headers = {
  Authorization: 'Basic U0swMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NQ==',
  'Content-Type': 'application/x-www-form-urlencoded',
};
const says = (Body: string) => [
  { method: 'POST', url, headers, body: new URLSearchParams({ To: '+4915123456789', From: '+15005550006', Body }).toString() },
];
const order = orderCompleted();

export default vendorCases(
  twilio,
  [
    { name: 'an order', event: order, requests: says('Order o-1 over 42.5 eur was placed.') },
    { name: 'a demo', event: track('Demo Requested'), requests: says('Somebody asked for a demo: user user-1.') },
    {
      name: 'through a messaging service',
      config: { sender: 'MG0123456789abcdef0123456789abcdef' },
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: new URLSearchParams({
            To: '+4915123456789',
            MessagingServiceSid: 'MG0123456789abcdef0123456789abcdef',
            Body: 'Order o-1 over 42.5 eur was placed.',
          }).toString(),
        },
      ],
    },
    {
      name: 'a text that is empty',
      config: { events: { 'Quiz Taken': { mappings: [{ template: '{{properties.score}}', target: 'Body' }] } } },
      event: track('Quiz Taken'),
      dropped: 'missing_required:Body',
    },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    ...messageCases(says),
  ],
  [
    {
      name: 'queued',
      events: [order],
      reply: { status: 201, body: { sid: 'SM1', status: 'queued', error_code: null } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a number that is not valid',
      events: [order],
      reply: { status: 400, body: { code: 21211, message: "The 'To' number is not a valid phone number.", status: 400 } },
      verdict: { kind: 'refused', reason: "http_400: The 'To' number is not a valid phone number." },
    },
    {
      name: 'opted out',
      events: [order],
      reply: { status: 400, body: { code: 21610, message: 'Attempt to send to unsubscribed recipient', status: 400 } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, body: { code: 20429, message: 'Too Many Requests', status: 429 } },
      verdict: { kind: 'unavailable', reason: 'http_429: Too Many Requests' },
    },
    {
      name: 'the queue of the sender is full',
      events: [order],
      reply: { status: 400, body: { code: 21611, message: 'This From number has exceeded the maximum number of queued messages' } },
      verdict: { kind: 'unavailable', reason: 'http_400: This From number has exceeded the maximum number of queued messages' },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
