/** Rejected events, and webhooks, as the API shows them. */
import { ownObject } from '@firsthand/core/context/objects.ts';
import { isObject, own } from '@firsthand/core/json.ts';
import { type RejectedEvent, type RejectedSender, type RejectedWebhook, WEBHOOK_REJECTED } from '@firsthand/core/outcome/outcome.ts';
import { hasRules } from '@firsthand/core/privacy/pii.ts';
import { shownBody } from '@firsthand/core/privacy/shown-body.ts';
import { MASK } from '@firsthand/core/vendor/secrets.ts';
import { changeJsonText } from '../intake/long-numbers.ts';
import { inexactText, isRejectedEvent } from '../intake/replay-rejected.ts';
import type { Snapshot } from '../snapshot/types.ts';
import { isKeptSecret } from '../snapshot/webhook-signature.ts';
import type { StoredDeadLetter } from '../stores/observe/dead-letters.ts';

/** `raw` after the organisation's privacy rules. Text that is not JSON is shown only if there are no such rules. */
export function shownRejection(letter: StoredDeadLetter, snapshot: Snapshot) {
  if (letter.stage === 'webhook') return shownWebhookRejection(letter, snapshot);
  const event = letter.event as RejectedEvent;
  return {
    event_id: letter.event_id,
    pipeline_id: letter.pipeline_id,
    status: 'rejected' as const,
    reason: letter.reason,
    message: event.message,
    received_at: event.received_at,
    raw: shownRaw(event, letter.org_id, snapshot),
    truncated: event.truncated === true,
    ...(event.sender === undefined ? {} : { sender: shownSender(event.sender, letter.org_id, snapshot) }),
    dead_letter_id: letter.id,
  };
}

function shownWebhookRejection({ id, org_id, event_id, pipeline_id, reason, event }: StoredDeadLetter, snapshot: Snapshot) {
  const { received_at, truncated, ...request } = shownWebhook(event as RejectedWebhook, org_id, snapshot);
  return {
    event_id,
    pipeline_id,
    status: 'rejected' as const,
    reason: WEBHOOK_REJECTED,
    message: reason,
    received_at,
    raw: request,
    truncated: truncated === true,
    dead_letter_id: id,
  };
}

/** A dead letter's `event` as the API shows it, without the client's address, what stands for a secret, and packed bytes. */
export function shownDeadLetterEvent(letter: StoredDeadLetter, snapshot: Snapshot): object {
  const { event } = letter;
  if (letter.stage === 'webhook' && 'headers' in event) return shownWebhook(event, letter.org_id, snapshot);
  if (letter.stage !== 'ingest' || !isRejectedEvent(event)) return event;
  const { request: _request, sender, ...rest } = event;
  return {
    ...rest,
    raw: shownRaw(event, letter.org_id, snapshot),
    ...(sender === undefined ? {} : { sender: shownSender(sender, letter.org_id, snapshot) }),
  };
}

/** The address of a server is shown, so that an allowlist can be corrected, unless the privacy rules speak of addresses. */
function shownSender({ address, ...sender }: RejectedSender, orgId: string, snapshot: Snapshot): RejectedSender {
  const isShown = address !== undefined && snapshot.organisations.get(orgId)?.pii.ip === 'keep';
  return isShown ? { ...sender, address } : sender;
}

/**
 * Under the privacy rules that need no mapped event: detection, URL parameters, and paths of any depth (`**.email`). Others name fields that
 * the webhook does not have yet.
 */
function shownWebhook({ body_base64: _bytes, body, ...event }: RejectedWebhook, orgId: string, snapshot: Snapshot): RejectedWebhook {
  const headers = Object.fromEntries(Object.entries(event.headers).map(([name, value]) => [name, isKeptSecret(value) ? MASK : value]));
  const pii = snapshot.organisations.get(orgId)?.pii;
  if (pii === undefined || !hasRules(pii)) return { ...event, body, headers };
  const { received_at, truncated, ...request } = { ...event, headers };
  const cover = (value: unknown) => own(ownObject(shownBody({ properties: { value } }, pii) ?? {}, 'properties') ?? {}, 'value');
  return {
    headers: {},
    ...(cover(structuredClone(request)) as object | undefined),
    body: isJsonText(body) ? changeJsonText(Buffer.from(body), (value) => cover(value) ?? null) : String(cover(body) ?? ''),
    received_at,
    ...(truncated === undefined ? {} : { truncated }),
  };
}
function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function shownRaw(event: RejectedEvent, orgId: string, snapshot: Snapshot): unknown {
  const pii = snapshot.organisations.get(orgId)?.pii;
  if (pii === undefined) return null;
  const { raw } = event;
  if (isObject(raw)) return shownBody(structuredClone(raw), pii);
  if (pii.ip === 'keep' && !hasRules(pii)) return raw;
  const text = inexactText(event);
  const shown = text === undefined ? 'null' : changeJsonText(Buffer.from(text), (value) => shownBody(value, pii));
  return shown === 'null' ? null : shown;
}
