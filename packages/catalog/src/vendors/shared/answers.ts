import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';

/** A vendor that gave up waiting for the request did not judge it. */
export const RETRY_TIMEOUT: AnswerRule = { status: [408], verdict: 'unavailable' };

/**
 * One bad event fails the whole request, a wrong token concerns all of them. The arguments are the paths of the reasons in the answer.
 */
export const oneBadFailsAll = (reason = 'body', tokenReason = reason): AnswerRule[] => [
  { status: [401, 403], verdict: 'refused', reason: tokenReason },
  { status: [400, 422], verdict: 'refused', reason, isolate: true },
  RETRY_TIMEOUT,
];
