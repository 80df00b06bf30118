import { vendorCases } from '../shared/cases.ts';
import { orderCompleted } from '../shared/sample-events.ts';
import { specCases } from '../shared/segment-spec-cases.ts';
import segment from './vendor.ts';

const order = orderCompleted();
// Basic, the write key and an empty password.
const headers = { Authorization: 'Basic RG1CWElONEpud3FCblRxWGNjVEYwd0JuTFhOUW1GdGs6' };

export default vendorCases(
  segment,
  [
    ...specCases('https://api.segment.io/v1/batch', headers),
    {
      name: 'the EU has its own host',
      config: { region: 'events.eu1.segmentapis.com' },
      event: order,
      requests: [{ url: 'https://events.eu1.segmentapis.com/v1/batch' }],
    },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { success: true } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of several is too large',
      events: [order, order],
      reply: { status: 400, body: { success: false, message: 'payload too large' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'too large alone',
      events: [order],
      reply: { status: 400, body: { success: false, message: 'payload too large' } },
      verdict: { kind: 'refused', reason: 'http_400: payload too large' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '7', 'x-ratelimit-reset': '7' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 7_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
