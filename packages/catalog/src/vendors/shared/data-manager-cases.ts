/** How every vendor behind the Data Manager API reads the status of a request. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { AnswerCase, VendorCase } from './cases.ts';
import { HASHED, orderCompleted, TRAITS } from './sample-events.ts';

const STATUSES = [
  ['is still being processed', 'PROCESSING', 'accepted'],
  ['succeeded', 'SUCCESS', 'delivered'],
  ['succeeded in part: Google does not say which events failed', 'PARTIAL_SUCCESS', 'delivered'],
  ['failed', 'FAILED', 'refused'],
  ['has a status that nobody knows yet', 'REQUEST_STATUS_UNKNOWN', 'accepted'],
] as const;

/** Google rejects an address that lacks a part, and the whole request with it. */
export const incompleteAddress: VendorCase = {
  name: 'an address without a country that Google knows is left out as a whole',
  event: orderCompleted({}, { traits: { ...TRAITS, address: { postal_code: '10115', country: 'Atlantis' } } }),
  requests: [
    {
      contains: { 'events[0].userData.userIdentifiers': [{ emailAddress: HASHED.email }, { phoneNumber: HASHED.phone }] },
    },
  ],
};

export function requestStatusAnswers(order: CanonicalEvent): AnswerCase[] {
  return [
    {
      name: 'a request that was only validated has no id to ask for',
      events: [order],
      reply: { status: 200, body: {} },
      verdict: { kind: 'delivered' },
    },
    ...STATUSES.map(
      ([name, requestStatus, kind]): AnswerCase => ({
        name: `the request ${name}`,
        poll: true,
        events: [order],
        reply: {
          status: 200,
          body: { requestStatusPerDestination: [{ requestStatus, errorInfo: { errorCounts: [{ recordCount: '1', reason: 'X' }] } }] },
        },
        verdict: { kind },
      }),
    ),
    {
      name: 'a poll that Google cannot answer is repeated',
      poll: true,
      events: [order],
      reply: { status: 503 },
      verdict: { kind: 'unavailable' },
    },
  ];
}
