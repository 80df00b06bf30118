/** Sends a rejected event again, as it came or corrected, under the ids and the time of its first receipt. */
import { anonymousIdOfRequest } from '@firsthand/core/event/anonymous-id.ts';
import { envelopeFields } from '@firsthand/core/event/envelope.ts';
import { type CallRules, type CallType, validateEvent } from '@firsthand/core/event/validate.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import type { DeadLetter, RejectedEvent, RejectedSender } from '@firsthand/core/outcome/outcome.ts';
import { messageOf } from '../http/collection-reply.ts';
import type { IngestRules } from '../snapshot/ingest-rules.ts';
import type { Append } from '../stores/event-log/port.ts';
import { ANY_CALL } from './call-rules.ts';
import { buildRecord, derivedUuid } from './ingest-record.ts';
import { inexactNumber } from './parse-body.ts';

const MESSAGE_ID = /^[\x20-\x7e]{1,255}$/;

/** `sender`: it is refused for its sender, so a corrected event does not help. */
export type RejectedReplay = { ok: true; append: Append } | { ok: false; message: string; sender?: true };

/** The record keeps the event's messageId: if its sender corrected and resent it in the meantime, this is a duplicate. */
export function replayRejected(letter: DeadLetter, rules: IngestRules): RejectedReplay {
  const { event } = letter;
  if (!isRejectedEvent(event)) return { ok: false, message: 'This dead letter is not a rejected event.' };
  const refusal = senderRefusal(letter.reason, event.sender, rules);
  if (refusal !== undefined) return { ok: false, message: refusal, sender: true };
  const text = inexactText(event);
  const raw: unknown = text === undefined ? event.raw : JSON.parse(text);
  const { anonymous_id: cookieId, ...request } = event.request;
  if (!isObject(raw)) return { ok: false, message: 'The stored body is not a JSON object: send a corrected event.' };
  const body = { ...(raw as JsonObject) };
  // So that the event is found under the same id as its rejection, and is a duplicate when it is sent again.
  if ((body.messageId ?? null) === null)
    body.messageId = MESSAGE_ID.test(letter.event_id) ? letter.event_id : derivedUuid(letter.pipeline_id, letter.id);
  const visitor = { cookieId, context: isObject(request.context) ? (request.context as JsonObject) : undefined };
  const fault = validateEvent(body, rulesOf(event), () => anonymousIdOfRequest(visitor) !== undefined);
  if (fault !== undefined) return { ok: false, message: fault.message };
  if (text !== undefined) return { ok: false, message: messageOf(inexactNumber(Buffer.from(text)) ?? { code: 'validation_failed' }) };
  const receivedAt = Date.parse(event.received_at);
  const { topic, record } = buildRecord(
    {
      rules,
      receivedAt,
      envelope: envelopeFields({ received_at: receivedAt, ...request, replay_of: letter.id }),
      browserRequest: request.source === 'browser',
      ...visitor,
    },
    { body, bytes: Buffer.from(JSON.stringify(body)), index: 0, impliedType: event.type },
  );
  return { ok: true, append: { topic, records: [record] } };
}

const NEVER = new Map([
  [
    'invalid_signature',
    'its signature was not valid, so nobody knows who sent it. It can never be replayed: send it again with a valid signature.',
  ],
  [
    'ip_not_allowed',
    'it came from an address that was not allowed, so its sender is not trusted. It can never be replayed: send it again from an allowed address.',
  ],
]);
/** Why an event of a refused sender is still not let in, under the present rules. Checks also what ingest had not come to. */
function senderRefusal(reason: string, sender: RejectedSender | undefined, rules: IngestRules): string | undefined {
  const never = NEVER.get(reason);
  if (never !== undefined || sender === undefined) return never;
  const { origin, address, signature } = sender;
  if (origin !== undefined && !rules.allowsOrigin(origin)) return `its origin ${origin} is not on the domain allowlist of the pipeline.`;
  if (rules.allowsAddress !== undefined && !rules.allowsAddress(address ?? ''))
    return 'its address is not on the IP allowlist of the pipeline.';
  if (signature === 'invalid' || (rules.requireSignature && signature !== 'valid')) return NEVER.get('invalid_signature');
  return undefined;
}

/** What the path demanded, without its spelling: a corrected event may use every leniency. */
function rulesOf({ type }: RejectedEvent): CallRules {
  return { ...ANY_CALL, fallback: ANY_CALL.types.has(type ?? '') ? (type as CallType) : undefined };
}

/** The JSON text of an event with a number that parsing would change; undefined for other events, and for a corrected one. */
export function inexactText({ inexact, raw }: RejectedEvent): string | undefined {
  return inexact && typeof raw === 'string' ? raw : undefined;
}

export function isRejectedEvent(event: DeadLetter['event']): event is RejectedEvent {
  return 'raw' in event && 'request' in event;
}
