import type { AnswerRule, PartialRule } from '@firsthand/core/vendor/definition.ts';

/** A vendor that gave up waiting for the request did not judge it. */
export const RETRY_TIMEOUT: AnswerRule = { status: [408], verdict: 'unavailable' };

/** One bad event fails the whole request. `reason` is its path in the answer. */
export const oneBadFailsAll = (reason = 'body'): AnswerRule[] => [
  { status: [400, 422], verdict: 'refused', reason, isolate: true },
  RETRY_TIMEOUT,
];

/** The vendor answers as if all were well, and the body says otherwise. One bad event fails the whole request. */
export function errorInside(when: NonNullable<AnswerRule['when']>, reason: string, status: AnswerRule['status'] = ['2xx']): AnswerRule {
  return { status, when, verdict: 'refused', reason, isolate: true };
}

/** The answer has a list with one entry per event, in order. `reason` is the path in an entry. */
export function resultPerEvent(
  results: string,
  accepted: NonNullable<PartialRule['accepted']>,
  reason: string,
  failed: PartialRule['failed'] = 'refused',
): Pick<AnswerRule, 'verdict' | 'partial'> {
  return { verdict: 'partial', partial: { results, accepted, reason, failed, others: 'delivered' } };
}
