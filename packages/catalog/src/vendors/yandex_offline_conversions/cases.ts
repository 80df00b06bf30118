import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, identified, orderCompleted, track } from '../shared/sample-events.ts';
import yandex from './vendor.ts';

const context = { ...CONTEXT, click_ids: { yclid: '1234567890123456789' }, vendor_ids: { ym_uid: '1700000000123456789' } };
const order = orderCompleted({}, { context });
const HEAD = 'UserId,ClientId,Yclid,PurchaseId,Target,DateTime,Price,Currency';
/** The boundary is a hash of the content. */
const file = (boundary: string, ...rows: string[]) =>
  [
    `--firsthand-${boundary}`,
    'Content-Disposition: form-data; name="file"; filename="conversions.csv"',
    'Content-Type: text/csv',
    '',
    HEAD,
    ...rows,
    '',
    `--firsthand-${boundary}--`,
    '',
  ].join('\r\n');

export default vendorCases(
  yandex,
  [
    {
      name: 'multipart: a file with an order',
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://api-metrika.yandex.net/management/v1/counter/12345678/offline_conversions/upload',
          headers: {
            Authorization: 'OAuth y0_AgAAAAexampletoken',
            'Content-Type': 'multipart/form-data; boundary=firsthand-2861a747f18c71260b7c59d1d654a4a42c248e77',
          },
          body: file(
            '2861a747f18c71260b7c59d1d654a4a42c248e77',
            'user-1,1700000000123456789,1234567890123456789,o-1,order_confirmed,1767323045,42.5,EUR',
          ),
        },
      ],
    },
    {
      name: 'csv: conversions of two goals share a file, and a comma is quoted',
      config: {
        goals: [
          { event: 'Lead Generated', goal: 'lead' },
          { event: 'Signed Up', goal: 'sign_up' },
        ],
      },
      event: track('Lead Generated', { value: 5, currency: 'RUB' }, { context, user_id: 'a,b' }),
      batched: [track('Signed Up', {}, { context: {} })],
      requests: [
        {
          body: file(
            '7cbe5277642a023c600d065e8571057611066b83',
            '"a,b",1700000000123456789,1234567890123456789,,lead,1767323045,5,RUB',
            'user-1,,,,sign_up,1767323045,,',
          ),
        },
      ],
    },
    { name: 'an event without a goal', event: track('Product Added', {}, { context }), dropped: 'mapping_filter' },
    { name: 'nobody to match', event: bare('Order Completed', { total: 1, currency: 'RUB' }), dropped: 'missing_required:ClientId' },
    { name: 'an order of 22 days', event: order, now: '2026-01-24T03:04:05Z', dropped: 'event_too_old' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 200, body: { uploading: { id: 1, source_quantity: 1, line_quantity: 1, status: 'UPLOADED' } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a bad file',
      events: [order],
      reply: { status: 400, body: { code: 400, message: 'Invalid CSV' } },
      verdict: { kind: 'refused', reason: 'http_400: Invalid CSV' },
    },
    { name: 'a wrong token', events: [order], reply: { status: 403, body: { code: 403 } }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
