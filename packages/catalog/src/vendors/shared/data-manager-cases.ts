/** How every vendor behind the Data Manager API reads the status of a request. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { AnswerCase } from './cases.ts';

const STATUSES = [
  ['is still being processed', 'PROCESSING', 'accepted'],
  ['succeeded', 'SUCCESS', 'delivered'],
  ['succeeded in part: Google does not say which events failed', 'PARTIAL_SUCCESS', 'delivered'],
  ['failed', 'FAILED', 'refused'],
  ['has a status that nobody knows yet', 'REQUEST_STATUS_UNKNOWN', 'accepted'],
] as const;

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
