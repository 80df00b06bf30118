import { vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import yandexMetrica from './vendor.ts';

const HEAD = 'ClientId,UserId,Yclid,PurchaseId,Target,DateTime,Price,Currency\r\n';
/** The boundary is a hash of the content. */
const file = (boundary: string, lines: string) =>
  `--firsthand-${boundary}\r\nContent-Disposition: form-data; name="file"; filename="conversions.csv"\r\nContent-Type: text/csv\r\n\r\n${HEAD}${lines}\r\n\r\n--firsthand-${boundary}--\r\n`;
const context = { ...CONTEXT, click_ids: { yclid: '17100000001' }, vendor_ids: { ym_uid: '1700000000123456789' } };

export default vendorCases(
  yandexMetrica,
  [
    {
      name: 'an order as a line of a CSV file',
      event: orderCompleted({}, { context }),
      requests: [
        {
          method: 'POST',
          url: 'https://api-metrika.yandex.net/management/v1/counter/2215573/offline_conversions/upload?type=BASIC',
          headers: { Authorization: 'OAuth y0_AgAAAAAexampletoken' },
          body: file(
            '5760c35428675fc627119238e3adb3ff913f4261',
            '1700000000123456789,user-1,17100000001,o-1,order_completed,1767323045,42.5,EUR',
          ),
        },
      ],
    },
    {
      name: 'a batch, with quotes where a value needs them',
      event: orderCompleted({ order_id: 'o,"1"' }, { context: {} }),
      batched: [track('Lead Generated', { value: 5, currency: 'usd' }, { context: {} })],
      requests: [
        {
          body: file(
            '72ac53fef6623ac9e4a3ea7e39e7423d6b410666',
            ',user-1,,"o,""1""",order_completed,1767323045,42.5,EUR\r\n,user-1,,,lead,1767323045,5,USD',
          ),
        },
      ],
    },
    {
      name: 'a remembered click is enough',
      event: { ...bare('Signed Up'), context: { click_ids: { yclid: '17100000001' } } },
      requests: [{ body: file('6eb93bc7d4774e06413300d26549572e1021a34a', ',,17100000001,,sign_up,1767323045,,') }],
    },
    {
      name: 'a goal from the table',
      config: { goals: [{ event: 'Quiz Taken', goal: 'quiz' }] },
      event: track('Quiz Taken', {}, { context: {} }),
      requests: [{ body: file('7a2fd50c76169b86ae4eafc7cd0752216a5f8e7f', ',user-1,,,quiz,1767323045,,') }],
    },
    { name: 'an event without any id', event: bare('Signed Up'), dropped: 'missing_required:ClientId' },
    { name: 'a visit that is too long ago', event: orderCompleted(), now: '2026-02-01T00:00:00Z', dropped: 'event_too_old' },
    { name: 'page views stay with the tag', event: pageViewed(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'accepted',
      events: [orderCompleted()],
      reply: { status: 200, body: { uploading: { id: 1, line_quantity: 1 } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a wrong line fails the file',
      events: [orderCompleted(), orderCompleted()],
      reply: { status: 400, body: { code: 400, message: 'Line 2: wrong DateTime' } },
      verdict: { kind: 'unavailable', reason: 'http_400: Line 2: wrong DateTime', isolate: true },
    },
    {
      name: 'a wrong token',
      events: [orderCompleted()],
      reply: { status: 403, body: { message: 'Access is denied' } },
      verdict: { kind: 'refused' },
    },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    {
      name: 'the quota is used up',
      events: [orderCompleted()],
      reply: { status: 420, body: { message: 'Quota' } },
      verdict: { kind: 'unavailable' },
    },
  ],
);
