import { ISOLATED, lacking, vendorCases } from '../shared/cases.ts';
import { bare, identified, orderCompleted, pageViewed } from '../shared/sample-events.ts';
import emarsys from './vendor.ts';

const headers = { Authorization: 'Bearer access-token' };
const table = { events_table: [{ event: 'Order Completed', event_id: '1234' }] };
const event_time = '2026-01-02T03:04:05.678Z';
const order = orderCompleted();
const second = orderCompleted({}, { event_id: 'evt-7', traits: { email: 'Ben@Example.com' } });
const sent = (external_id: string, trigger_id: string) => ({ external_id, trigger_id, event_time, data: order.properties });
const trigger = 'https://api.emarsys.net/api/v3/event/1234/trigger';

export default vendorCases(
  emarsys,
  [
    {
      name: 'an order triggers its event',
      config: table,
      event: order,
      requests: [{ method: 'POST', url: trigger, headers, body: { key_id: '3', contacts: [sent('anna.berg@example.com', 'evt-1')] } }],
    },
    {
      name: 'a batch',
      config: table,
      event: order,
      batched: [second],
      requests: [
        { url: trigger, body: { key_id: '3', contacts: [sent('anna.berg@example.com', 'evt-1'), sent('ben@example.com', 'evt-7')] } },
      ],
    },
    {
      name: 'identify creates or updates the contact',
      event: identified(),
      requests: [
        {
          method: 'PUT',
          url: 'https://api.emarsys.net/api/v3/contact/?create_if_not_exists=1',
          headers,
          body: { key_id: '3', contacts: [{ 1: 'Anna', 2: 'Berg', 3: 'anna.berg@example.com' }] },
        },
      ],
    },
    { name: 'an event without a row', variant: 'retail', event: order, dropped: 'mapping_filter' },
    { name: 'a page', config: table, event: pageViewed(), dropped: 'mapping_default' },
    ...lacking({ 'contact["3"]': identified({ traits: {} }) }, { config: table }),
    { name: 'no address', config: table, event: bare('Order Completed'), dropped: 'missing_required:trigger.external_id' },
  ],
  [
    {
      name: 'triggered',
      config: table,
      events: [order],
      reply: { status: 200, body: { replyCode: 0, replyText: 'OK', data: { ids: ['1'] } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one contact is not known',
      config: table,
      events: [order, second],
      reply: {
        status: 200,
        body: { replyCode: 0, replyText: 'OK', data: { ids: ['1'], errors: { 'ben@example.com': { 2008: 'No contact found' } } } },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused' }] } as never,
    },
    {
      name: 'a failure inside a 200',
      config: table,
      events: [order],
      reply: { status: 200, body: { replyCode: 5001, replyText: 'Invalid event ID', data: '' } },
      verdict: { kind: 'refused', reason: 'http_200: Invalid event ID' },
    },
    {
      name: 'the token has expired',
      config: table,
      events: [order],
      reply: { status: 401, body: { replyCode: 1, replyText: 'Unauthorized' } },
      verdict: { kind: 'unavailable', refresh_token: true } as never,
    },
    {
      name: 'throttled',
      config: table,
      events: [order],
      reply: { status: 429, body: { replyCode: 1, replyText: 'Too many requests' } },
      verdict: { kind: 'unavailable', reason: 'http_429: Too many requests', retry_after_ms: 60_000 },
    },
    {
      name: 'a bad contact among several',
      events: [identified(), identified({ traits: { email: 'ben@example.com' } })],
      reply: { status: 400, body: { replyCode: 2005, replyText: 'Contact field is invalid' } },
      verdict: ISOLATED,
    },
    { name: 'a failure of theirs', config: table, events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
