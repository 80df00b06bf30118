import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { type AnswerCase, ISOLATED } from './cases.ts';

/** Errors that every JSON service of AWS gives, most of them with the status 400. */
export function awsAnswers(first: CanonicalEvent, second: CanonicalEvent): AnswerCase[] {
  const answer = (name: string, status: number, body: unknown, verdict: AnswerCase['verdict'], events = [first]): AnswerCase => ({
    name,
    events,
    reply: { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, body },
    verdict,
  });
  const type = (code: string) => ({ __type: `com.amazonaws.v1#${code}`, message: 'x' });
  return [
    answer('throttled with 400', 400, type('ThrottlingException'), { kind: 'unavailable' }),
    answer('over the throughput of the stream', 400, type('ProvisionedThroughputExceededException'), { kind: 'unavailable' }),
    answer('throttled by the key service', 400, type('KMSThrottlingException'), { kind: 'unavailable' }),
    answer('expired credentials wait for new ones', 400, type('ExpiredTokenException'), { kind: 'unavailable' }),
    answer('a wrong key waits for the right one', 403, type('UnrecognizedClientException'), { kind: 'unavailable' }),
    answer('a wrong signature', 403, type('InvalidSignatureException'), { kind: 'unavailable' }),
    answer('a missing permission', 400, type('AccessDeniedException'), { kind: 'unavailable' }),
    answer('a missing resource', 400, type('ResourceNotFoundException'), { kind: 'unavailable' }),
    answer('down', 500, type('InternalFailure'), { kind: 'unavailable' }),
    answer('unavailable', 503, 'Service Unavailable', { kind: 'unavailable' }),
    answer('one bad event', 400, type('ValidationException'), { kind: 'refused' }),
    answer('a bad event among several', 400, type('ValidationException'), ISOLATED, [first, second]),
  ];
}
