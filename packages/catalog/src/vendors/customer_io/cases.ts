import { vendorCases } from '../shared/cases.ts';
import { identified, orderCompleted } from '../shared/sample-events.ts';
import { NO_PREVIOUS_ID, specCases } from '../shared/segment-spec-cases.ts';
import customerIo from './vendor.ts';

const order = orderCompleted();
// Basic, the key and an empty password.
const headers = { Authorization: 'Basic MDEyMzQ1Njc4OWFiY2RlZjowMTIzNDU2Nzg5YWJjZGVmOg==', 'X-Strict-Mode': '1' };

export default vendorCases(
  customerIo,
  [
    ...specCases('https://cdp.customer.io/v1/batch', headers, { context: false }).filter(({ name }) => name !== 'an alias call'),
    {
      name: 'an alias call is no part of a batch',
      event: identified({ original_type: 'alias', traits: {}, context: { previous_id: 'old-1' } }),
      requests: [
        {
          method: 'POST',
          url: 'https://cdp.customer.io/v1/alias',
          headers,
          body: { userId: 'user-1', previousId: 'old-1', messageId: 'evt-3', timestamp: '2026-01-02T03:04:05.678Z' },
        },
      ],
    },
    NO_PREVIOUS_ID,
    { name: 'the EU', config: { region: 'cdp-eu.customer.io' }, event: order, requests: [{ url: 'https://cdp-eu.customer.io/v1/batch' }] },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { success: true } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of several is not valid',
      events: [order, order],
      reply: { status: 400, body: { success: false, message: 'invalid' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { success: false, message: 'userId is required' } },
      verdict: { kind: 'refused', reason: 'http_400: userId is required' },
    },
    { name: 'a wrong key', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);
