/** Answers "why was this not delivered to X?" with one sentence that a person can act on. */
import type { DropReason } from './outcome.ts';

type PlainReason =
  | Exclude<DropReason, `missing_required:${string}`>
  | 'delivered'
  | 'accepted_by_vendor'
  | 'waiting'
  | 'retrying'
  | 'not_routed'
  | 'untraced';

/** Documented in docs/reference/errors.md. */
export const REASON_SENTENCES: Readonly<Record<PlainReason, string>> = {
  bot: 'The visitor was recognised as a bot, and the data layer drops bots.',
  routing_rule: 'A routing rule of the organisation drops such events.',
  custom_code: 'The organisation’s custom code returned nothing for this event.',
  tracking_plan: 'The event does not fit the pipeline’s tracking plan, which drops violations.',
  transformation: 'A transformation of the pipeline dropped the event.',
  consent_not_granted: 'The visitor has not granted the consent category that this integration needs.',
  event_filtered: 'The integration’s event filter does not name this event.',
  mapping_default: 'The integration’s mapping has no entry for this event, and its default is to drop.',
  mapping_filter: 'The filter in the integration’s mapping does not match this event.',
  event_too_old: 'The event is older than the vendor accepts (max_event_age_hours).',
  integration_disabled: 'The integration was disabled before the event was delivered; history replay can fetch it.',
  client_side: 'The integration runs in the browser: the collector sends it, not the server.',
  disabled_by_event: 'The event’s own integrations object switches this integration off.',
  integration_deleted: 'The integration was deleted before the event was delivered.',
  pipeline_deleted: 'The pipeline was deleted before the event was delivered.',
  delivered: 'The vendor accepted the event.',
  waiting: 'The event waits for its turn: nothing has been sent yet.',
  accepted_by_vendor: 'The vendor accepted the event and has not reported the result yet.',
  retrying: 'The last attempt failed; the event is tried again.',
  untraced: 'The trace of this event was left out (TRACE_SAMPLE). Only drops and errors are shown; without any, it was delivered or waits.',
  not_routed: 'The integration was added after this event, which never reached it.',
};

/** One sentence for a reason. `reason` comes from stored rows, so it may be one of an earlier version. `detail`: the vendor's or step's message. */
export function explain(reason: string, detail?: string | null): string {
  const known = isPlain(reason) ? REASON_SENTENCES[reason] : undefined;
  if (known !== undefined) return detail ? `${known.slice(0, -1)} (${detail}).` : known;
  if (reason.startsWith('missing_required:'))
    return `The mapping requires ${reason.slice('missing_required:'.length)}, and this event has no value for it.`;
  if (reason === 'dead_lettered') return `The event could not be delivered and is kept as a dead letter${detail ? `: ${detail}` : ''}.`;
  if (reason === 'processing_failed') return `The event could not be processed and is kept as a dead letter${detail ? `: ${detail}` : ''}.`;
  return `The event ended with: ${reason}${detail ? ` (${detail})` : ''}.`;
}

function isPlain(reason: string): reason is PlainReason {
  return Object.hasOwn(REASON_SENTENCES, reason);
}
