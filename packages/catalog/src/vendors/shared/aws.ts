/**
 * AWS services: credentials, signature, and errors by their code. Many errors that pass have the status 400, so the status says
 * nothing. https://docs.aws.amazon.com/kinesis/latest/APIReference/CommonErrors.html
 */
import type { Condition } from '@firsthand/core/config/resources.ts';
import type { AnswerRule, AuthDefinition, ConfigField } from '@firsthand/core/vendor/definition.ts';
import { optionalSecret, secret, text } from './fields.ts';

export function awsFields(of: string, permission: string): ConfigField[] {
  return [
    text('region', 'Region', 'eu-central-1', `AWS region of the ${of}.`, {
      pattern: '^[a-z]{2}(-[a-z]+)+-\\d$',
      pattern_hint: 'a region such as eu-central-1',
    }),
    ...awsKeyFields(permission),
  ];
}

/** @param permission what the user of the key may do */
export function awsKeyFields(permission: string): ConfigField[] {
  return [
    text('access_key_id', 'Access key ID', 'AKIAIOSFODNN7EXAMPLE', `Of a user that may ${permission}.`, {
      pattern: '^[\\w\\-]{3,128}$',
      pattern_hint: 'an access key id',
    }),
    secret(
      'secret_access_key',
      'Secret access key',
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      'Shown by AWS once, when the key is made.',
    ),
    optionalSecret('session_token', 'Session token', 'IQoJb3JpZ2luX2VjEXAMPLETOKEN', 'Only for temporary credentials.'),
  ];
}

export const awsAuth = (service: string): AuthDefinition => ({
  kind: 'aws_sigv4',
  access_key_id: '{{parameters.access_key_id}}',
  secret_access_key: '{{parameters.secret_access_key}}',
  session_token: '{{parameters.session_token}}',
  region: '{{parameters.region}}',
  service,
});

/** Codes that pass by themselves: throttling, and faults of the service. */
const PASSING =
  '(?i)throttl|ThroughputExceeded|LimitExceeded|TooManyRequests|ServiceUnavailable|InternalFailure|InternalError|InternalServer|RequestTimeout|ConcurrentAccess|OverLimit';
/** Codes that a person corrects outside of the event: credentials, permissions, a missing resource. The events wait for it. */
const CORRECTABLE =
  'ExpiredToken|RequestExpired|InvalidSignature|SignatureDoesNotMatch|IncompleteSignature|UnrecognizedClient|InvalidClientTokenId|AuthFailure|MissingAuthenticationToken|AccessDenied|AuthorizationError|NotAuthorized|OptInRequired|KMS|Kms|ResourceNotFound|QueueDoesNotExist|NonExistentQueue|NotFound|ResourceInUse|EndpointDisabled|InvalidSecurity';

/** Of single entries: what does not refuse the event for good. */
export const RETRIED = `${PASSING}|${CORRECTABLE}`;

const code = (pattern: string): Condition => ({
  any: [
    { field: 'body.__type', op: 'matches', value: pattern },
    { field: 'headers.x-amzn-errortype', op: 'matches', value: pattern },
    // The query protocol answers in XML.
    { field: 'body', op: 'matches', value: `<Code>[^<]*(${pattern})` },
  ],
});

export const AWS_RETRIES: AnswerRule[] = [
  { status: ['4xx', '5xx'], when: code(PASSING), verdict: 'unavailable', reason: 'body' },
  { status: ['4xx', '5xx'], when: code(CORRECTABLE), verdict: 'unavailable', reason: 'body' },
  { status: [408, 429, '5xx'], verdict: 'unavailable', reason: 'body' },
];
/** For whole requests. One bad entry fails its request, so each is sent alone before it is refused. */
export const AWS_ERRORS: AnswerRule[] = [...AWS_RETRIES, { status: ['4xx'], verdict: 'refused', reason: 'body', isolate: true }];

/** Kinesis and Firehose answer 200 although some records failed, and count those. Failed records have an error code. */
export function failedRecords(count: string, results: string): AnswerRule {
  return {
    status: [200],
    when: { field: `body.${count}`, op: 'gt', value: 0 },
    verdict: 'partial',
    partial: {
      results: `body.${results}`,
      accepted: { field: 'ErrorCode', op: 'not_exists' },
      reason: 'ErrorCode',
      failed: 'unavailable',
      others: 'delivered',
    },
  };
}
