import { vendorCases } from '../shared/cases.ts';
import { orderCompleted } from '../shared/sample-events.ts';
import { specCases } from '../shared/segment-spec-cases.ts';
import rudderstack from './vendor.ts';

const order = orderCompleted();
// Basic, the write key and an empty password.
const headers = { Authorization: 'Basic MmJMbUVxWDZ5VTN2WHl6VzlRcjVUbktwQWJjOg==' };

export default vendorCases(rudderstack, specCases('https://hosted.rudderlabs.com/v1/batch', headers), [
  { name: 'accepted', events: [order], reply: { status: 200, body: 'OK' }, verdict: { kind: 'delivered' } },
  {
    name: 'one of several is not acceptable',
    events: [order, order],
    reply: { status: 400, body: 'Request neither has anonymousId nor userId' },
    verdict: { kind: 'unavailable', isolate: true } as never,
  },
  {
    name: 'rejected',
    events: [order],
    reply: { status: 400, body: 'Request neither has anonymousId nor userId' },
    verdict: { kind: 'refused', reason: 'http_400: Request neither has anonymousId nor userId' },
  },
  {
    name: 'a wrong write key',
    events: [order],
    reply: { status: 401, body: 'Invalid Write Key' },
    verdict: { kind: 'refused', reason: 'http_401: Invalid Write Key' },
  },
  {
    name: 'a source that is switched off',
    events: [order],
    reply: { status: 404, body: 'Source is disabled' },
    verdict: { kind: 'refused', reason: 'http_404: Source is disabled' },
  },
  { name: 'too large together', events: [order, order], reply: { status: 413 }, verdict: { kind: 'unavailable', isolate: true } as never },
  {
    name: 'throttled',
    events: [order],
    reply: { status: 429, body: 'Events dropped due to rate limiting' },
    verdict: { kind: 'unavailable' },
  },
  { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
]);
