/** Rejected events, and webhooks, as the API shows them. */
import { isObject } from '@firsthand/core/json.ts';
import type { RejectedEvent, RejectedSender, RejectedWebhook, RejectionCode } from '@firsthand/core/outcome/outcome.ts';
import { shownBody } from '@firsthand/core/privacy/shown-body.ts';
import { MASK } from '@firsthand/core/vendor/secrets.ts';
import { changeJsonText } from '../intake/long-numbers.ts';
import { inexactText, isRejectedEvent } from '../intake/replay-rejected.ts';
import type { Snapshot } from '../snapshot/types.ts';
import { isKeptSecret } from '../snapshot/webhook-signature.ts';
import type { StoredDeadLetter } from '../stores/observe/dead-letters.ts';

export const WEBHOOK_REJECTED: RejectionCode = 'webhook_rejected';

/** `raw` after the organisation's privacy rules. Text that is not JSON is shown only if there are no such rules. */
export function shownRejection(letter: StoredDeadLetter, snapshot: Snapshot) {
  if (letter.stage === 'webhook') return shownWebhookRejection(letter);
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

/** Shown as its dead letter shows it: which of its fields the privacy rules mean is only known of a mapped event. */
function shownWebhookRejection({ id, event_id, pipeline_id, reason, event }: StoredDeadLetter) {
  const { received_at, truncated, ...request } = shownWebhook(event as RejectedWebhook);
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
  if (letter.stage === 'webhook' && 'headers' in event) return shownWebhook(event);
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

function shownWebhook({ body_base64: _bytes, ...event }: RejectedWebhook): RejectedWebhook {
  const headers = Object.entries(event.headers).map(([name, value]) => [name, isKeptSecret(value) ? MASK : value]);
  return { ...event, headers: Object.fromEntries(headers) };
}

function shownRaw(event: RejectedEvent, orgId: string, snapshot: Snapshot): unknown {
  const pii = snapshot.organisations.get(orgId)?.pii;
  if (pii === undefined) return null;
  const { raw } = event;
  if (isObject(raw)) return shownBody(structuredClone(raw), pii);
  const isPlain = pii.ip === 'keep' && pii.fields.length === 0 && pii.detect.size === 0 && pii.url_params === undefined;
  if (isPlain) return raw;
  const text = inexactText(event);
  const shown = text === undefined ? 'null' : changeJsonText(Buffer.from(text), (value) => shownBody(value, pii));
  return shown === 'null' ? null : shown;
}
