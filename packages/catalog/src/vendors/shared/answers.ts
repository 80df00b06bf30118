import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';

/** A vendor that gave up waiting for the request did not judge it. */
export const RETRY_TIMEOUT: AnswerRule = { status: [408], verdict: 'unavailable' };
