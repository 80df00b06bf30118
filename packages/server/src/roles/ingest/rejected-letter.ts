/** What is kept of one rejected event: a dead letter of stage `ingest`. */
import { findInexactNumber } from '@firsthand/core/event/exact-numbers.ts';
import { LONG_NUMBER, scanJson, TOO_DEEP } from '@firsthand/core/event/scan-json.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import type { DeadLetter, RejectedEvent, RejectedSender } from '@firsthand/core/outcome/outcome.ts';
import { textWithoutCredentials, withoutCredentials } from '@firsthand/core/privacy/credentials.ts';
import { messageOf, type Rejection } from '../../http/collection-reply.ts';
import { changeJsonText } from '../../intake/long-numbers.ts';
import { MAX_DEPTH } from '../../intake/parse-body.ts';
import { newId } from '../../runtime/ids.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { MAX_KEPT_BYTES } from './exchange.ts';

/** The request's envelope fields that a replay needs. */
export type RequestFields = RejectedEvent['request'];
export interface Rejected {
  rules: IngestRules;
  rejection: Rejection;
  eventId: string;
  /** The event as the client sent it, or the whole body where that is not JSON. */
  bytes: Buffer;
  impliedType: string | undefined;
  request: RequestFields;
  receivedAt: number;
  /** Part of the body is missing. */
  cut?: true;
  sender?: RejectedSender;
}

export function deadLetterOf(rejected: Rejected, retentionMs: number): DeadLetter {
  const { rules, rejection, eventId, receivedAt } = rejected;
  return {
    id: newId('dlq', receivedAt),
    org_id: rules.orgId,
    pipeline_id: rules.pipelineId,
    integration_id: null,
    webhook_source_id: null,
    vendor: null,
    revision_number: null,
    event_id: eventId,
    stage: 'ingest',
    event: rejectedEvent(rejected),
    attempts: [],
    reason: rejection.code,
    created_at: new Date(receivedAt).toISOString(),
    expires_at: new Date(receivedAt + retentionMs).toISOString(),
  };
}

function rejectedEvent({ bytes, rejection, receivedAt, impliedType, request, cut, sender }: Rejected): RejectedEvent {
  const isWhole = bytes.length <= MAX_KEPT_BYTES && !cut;
  return {
    ...(isWhole ? keptBody(bytes) : { raw: textWithoutCredentials(bytes.toString('utf8', 0, MAX_KEPT_BYTES)) }),
    message: messageOf(rejection),
    received_at: new Date(receivedAt).toISOString(),
    ...(impliedType === undefined ? {} : { type: impliedType }),
    ...(isWhole ? {} : { truncated: true as const }),
    ...(sender === undefined ? {} : { sender }),
    request,
  };
}

function keptBody(bytes: Buffer): Pick<RejectedEvent, 'raw' | 'inexact'> {
  const text = bytes.toString();
  const flags = scanJson(bytes, MAX_DEPTH);
  if (flags === TOO_DEEP) return { raw: textWithoutCredentials(text) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { raw: textWithoutCredentials(text) };
  }
  const isInexact = flags === LONG_NUMBER && findInexactNumber(bytes) !== undefined;
  return isInexact ? { raw: changeJsonText(bytes, kept), inexact: true } : { raw: kept(value) };
}

/** Keys and challenge tokens are not kept. */
function kept(value: unknown): unknown {
  return isObject(value) ? withoutCredentials(value as JsonObject) : value;
}
