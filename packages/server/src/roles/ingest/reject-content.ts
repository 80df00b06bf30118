/** Rejects a request for its content, and finds the id under which its event is kept. */
import { randomUUID } from 'node:crypto';
import { isObject, own } from '@firsthand/core/json.ts';
import type { Rejection } from '../../http/collection-reply.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { readIdCookie } from './cookies.ts';
import { type Exchange, MAX_KEPT_BYTES } from './exchange.ts';
import type { RequestFields } from './rejected-letter.ts';
import { requestFields } from './request-meta.ts';

/** The event's messageId if it can be found, so that its sender finds the event; else another id. */
export function idOfRejected(body: unknown, bytes: Buffer, another: () => string = randomUUID): string {
  return messageIdOf(body, bytes) ?? another();
}
/** `body`: undefined where it is not parsed. */
export function messageIdOf(body: unknown, bytes: Buffer): string | undefined {
  const given = isObject(body) ? own(body, 'messageId') : messageIdInText(body === undefined ? bytes : undefined);
  if (typeof given === 'number') return String(given);
  return typeof given === 'string' && given !== '' ? given.slice(0, 255) : undefined;
}
/** Of a body that is not JSON, say because it was cut. */
function messageIdInText(bytes: Buffer | undefined): string | undefined {
  const text = bytes?.toString('latin1', 0, MAX_KEPT_BYTES) ?? '';
  return /"messageId"\s{0,10}:\s{0,10}"([\x20-\x21\x23-\x5b\x5d-\x7e]{1,255})"/.exec(text)?.[1];
}

/**
 * Rejects a request for its content, and keeps its one event, or a batch that could not be split. `body`: undefined where it is not JSON,
 * null where it names no event.
 */
export function rejectContent(exchange: Exchange, rules: IngestRules, rejection: Rejection, body: unknown, bytes: Buffer): void {
  const eventId = idOfRejected(body, bytes);
  const { ctx, route, receivedAt } = exchange;
  const request = rejectedFields(exchange, rules);
  ctx.rejectedEvents.keep({ rules, rejection, eventId, bytes, impliedType: route.impliedType, request, receivedAt });
  exchange.reject(rejection, { eventId, body, impliedType: route.impliedType });
}

export function rejectedFields(exchange: Exchange, rules: IngestRules): RequestFields {
  const cookieId = readIdCookie(exchange.headers.cookie);
  return { ...requestFields(exchange, rules), ...(cookieId === undefined ? {} : { anonymous_id: cookieId }) };
}
