import { ISOLATED, vendorCases } from '../shared/cases.ts';
import { bare, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import googleSheets from './vendor.ts';

const url =
  'https://sheets.googleapis.com/v4/spreadsheets/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/values/Sheet1!A1:append?valueInputOption=RAW&insertDataOption=INSERT_ROWS';
const headers = { Authorization: 'Bearer access-token' };
const time = '2026-01-02T03:04:05.678Z';
const says = (...values: unknown[][]) => [{ method: 'POST', url, headers, body: { majorDimension: 'ROWS', values } }];
const order = orderCompleted();
const lead = { ...bare('Lead Generated', { form: '=1+1' }), event_id: 'evt-7' };
const orderRow = [
  time,
  'evt-1',
  'Order Completed',
  'user-1',
  'anon-1',
  'anna.berg@example.com',
  'https://shop.example/checkout?x=1',
  42.5,
  'EUR',
  JSON.stringify(order.properties),
];
const leadRow = [time, 'evt-7', 'Lead Generated', '', '', '', '', '', '', '{"form":"=1+1"}'];

export default vendorCases(
  googleSheets,
  [
    { name: 'an order is a row', event: order, requests: says(orderRow) },
    { name: 'empty cells keep their place', event: lead, requests: says(leadRow) },
    {
      name: 'a cell holds 50,000 characters',
      event: bare('Lead Generated', { note: 'x'.repeat(60_000) }),
      requests: says([time, 'evt-9', 'Lead Generated', '', '', '', '', '', '', `{"note":"${'x'.repeat(49_991)}`]),
    },
    { name: 'a batch is written at once', event: order, batched: [lead], requests: says(orderRow, leadRow) },
    {
      name: 'another sheet, its name encoded',
      config: { range: 'My events!A1' },
      event: lead,
      requests: [
        {
          url: 'https://sheets.googleapis.com/v4/spreadsheets/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/values/My%20events!A1:append?valueInputOption=RAW&insertDataOption=INSERT_ROWS',
        },
      ],
    },
    {
      name: 'an event that the customer added',
      config: { events: { 'Quiz Taken': {} } },
      event: track('Quiz Taken', {}, { traits: {}, context: {} }),
      requests: says([time, 'evt-1', 'Quiz Taken', 'user-1', 'anon-1', '', '', '', '', '{}']),
    },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    { name: 'identify is dropped', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'written', events: [order], reply: { status: 200, body: { updates: { updatedRows: 1 } } }, verdict: { kind: 'delivered' } },
    {
      name: 'no such sheet',
      events: [order],
      reply: { status: 400, body: { error: { code: 400, message: 'Unable to parse range: Sheet9!A1', status: 'INVALID_ARGUMENT' } } },
      verdict: { kind: 'refused', reason: 'http_400: Unable to parse range: Sheet9!A1' },
    },
    { name: 'rows that are too large', events: [order, order], reply: { status: 413, body: {} }, verdict: ISOLATED },
    {
      name: 'not shared with the service account',
      events: [order],
      reply: { status: 403, body: { error: { code: 403, message: 'The caller does not have permission' } } },
      verdict: { kind: 'refused', reason: 'http_403: The caller does not have permission' },
    },
    {
      name: 'the token has expired',
      events: [order],
      reply: { status: 401, body: { error: { message: 'Invalid credentials' } } },
      verdict: { kind: 'unavailable', reason: 'http_401: Invalid credentials', refresh_token: true },
    },
    {
      name: 'over the quota',
      events: [order],
      reply: { status: 429, body: { error: { message: 'Quota exceeded' } } },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
