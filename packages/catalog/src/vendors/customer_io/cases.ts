import { vendorCases } from '../shared/cases.ts';
import { orderCompleted } from '../shared/sample-events.ts';
import { specCases } from '../shared/segment-spec-cases.ts';
import customerIo from './vendor.ts';

const order = orderCompleted();
// Basic, the key and an empty password.
const headers = { Authorization: 'Basic MDEyMzQ1Njc4OWFiY2RlZjowMTIzNDU2Nzg5YWJjZGVmOg==', 'X-Strict-Mode': '1' };

export default vendorCases(
  customerIo,
  [
    ...specCases('https://cdp.customer.io/v1/batch', headers, { context: false }),
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
