/** What traces, statistics and the live view learn about a settlement. Pure. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { Attempt, DeadLetter, Outcome, TruncatedEvent } from '@firsthand/core/outcome/outcome.ts';
import { isReadable } from '../../event-record.ts';
import { newId } from '../../runtime/ids.ts';
import { toldId, toldName } from '../../stores/observe/stored-text.ts';
import type { Tap } from '../../tap/port.ts';
import type { HeldEvent, Settlement } from './settlement.ts';

type DeadLettered = Extract<Outcome, { kind: 'dead_lettered' }>;

/** False where nothing changed: the job of an accepted event still runs. */
export function hasOutcome(settlement: Settlement): boolean {
  return settlement.kind !== 'accepted' || settlement.first;
}

/** The JSON of `outcomeOf`. */
export function outcomeText(held: HeldEvent, settlement: Settlement, now: number, deadLetterRetentionMs: number): string | undefined {
  if (settlement.kind === 'delivered' && !isReplay(held)) return deliveredText(held, settlement.attempt, now);
  const outcome = outcomeOf(held, settlement, now, deadLetterRetentionMs);
  return outcome && JSON.stringify(outcome);
}

const PLAIN = /^[\w.:-]+$/;
/** What the last text had in common with those around it: all of one integration and pipeline. */
let last = { compiled: {} as object, shared: {} as object, place: '' };
/** The events of one request share it. */
let lastAttempt = { attempt: {} as object, text: '' };

function deliveredText(held: HeldEvent, attempt: Attempt, now: number): string {
  const { event_id, shared, received_at } = held.decoded;
  const { compiled } = held;
  if (last.compiled !== compiled || last.shared !== shared) {
    const { org_id, pipeline_id } = shared;
    last = { compiled, shared, place: JSON.stringify({ org_id, pipeline_id, ...placeOf(held) }).slice(1, -1) };
  }
  if (lastAttempt.attempt !== attempt) lastAttempt = { attempt, text: JSON.stringify(attempt) };
  const id = PLAIN.test(event_id) ? `"${event_id}"` : JSON.stringify(event_id);
  const untraced = shared.untraced && !failedBefore(held) ? ',"untraced":true' : '';
  const times = `"at":${now},"received_at":${received_at},"duration_ms":${Math.max(0, now - received_at)}`;
  return `{"kind":"delivered",${last.place},"event_id":${id},${times},"attempt":${lastAttempt.text}${untraced}}`;
}

/** Undefined where `hasOutcome` is false. */
export function outcomeOf(held: HeldEvent, settlement: Settlement, now: number, deadLetterRetentionMs: number): Outcome | undefined {
  const { event_id, shared: meta, received_at } = held.decoded;
  const place = placeOf(held);
  const about = { at: now, org_id: meta.org_id, pipeline_id: meta.pipeline_id, event_id };
  const replay = isReplay(held) ? { replay: true } : undefined;
  // A replay is traced: somebody asked for it.
  const untraced = meta.untraced && !held.replay ? { untraced: true as const } : undefined;
  // Called for errors only: it may have to parse the event.
  // The time of a replay may be that of its dead letter, which would hide the steps of its event.
  const found = () => ({ ...(!held.replay && { received_at }), ...(untraced && { ...untraced, ...namesOf(held) }) });
  switch (settlement.kind) {
    case 'delivered': {
      const { attempt } = settlement;
      const duration_ms = Math.max(0, now - received_at);
      return {
        kind: 'delivered',
        ...about,
        ...place,
        attempt,
        received_at,
        duration_ms,
        ...replay,
        ...(failedBefore(held) ? undefined : untraced),
      };
    }
    case 'accepted': {
      const { attempt, delay_ms } = settlement;
      return settlement.first ? { kind: 'accepted_by_vendor', ...about, ...place, attempt, due_at: now + delay_ms, ...found() } : undefined;
    }
    case 'retry': {
      const { attempt, delay_ms } = settlement;
      return { kind: 'retrying', ...about, ...place, attempt, due_at: now + delay_ms, ...found() };
    }
    case 'dropped': {
      const { reason } = settlement;
      return { kind: 'dropped', reason, ...about, ...namesOf(held), ...place, received_at, ...replay, ...untraced };
    }
    case 'dead_letter': {
      const dead_letter = deadLetterOf(held, settlement, now, deadLetterRetentionMs);
      return { kind: 'dead_lettered', ...about, ...namesOf(held), dead_letter, ...replay, ...found() };
    }
  }
}

/** Also where the replay was one of processing. */
function isReplay({ replay, decoded }: HeldEvent): boolean {
  return replay || decoded.shared.replay === true;
}

function placeOf({ compiled: { integration } }: HeldEvent) {
  return { integration_id: integration.id, revision_number: integration.revision_number };
}

/** Its failed attempts are traced, so the last one is as well. */
function failedBefore(held: HeldEvent & { attempts?: readonly unknown[] }): boolean {
  return held.delivery.attempt > 1 || (held.attempts?.length ?? 0) > 0;
}

/** User code may make names of any length, and many outcomes share a record. */
function namesOf({ decoded: { event } }: HeldEvent) {
  return {
    type: event.type,
    event: toldName(event.event),
    user_id: toldId(event.user_id),
    anonymous_id: toldId(event.anonymous_id),
  };
}

function deadLetterOf(
  held: HeldEvent,
  { stage, reason, attempts }: Extract<Settlement, { kind: 'dead_letter' }>,
  now: number,
  retentionMs: number,
): DeadLetter {
  const { event, shared: meta } = held.decoded;
  const { integration } = held.compiled;
  return {
    id: newId('dlq', now),
    org_id: meta.org_id,
    pipeline_id: meta.pipeline_id,
    integration_id: integration.id,
    webhook_source_id: null,
    vendor: integration.vendor,
    revision_number: integration.revision_number,
    event_id: event.event_id,
    stage,
    event,
    attempts,
    reason,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + retentionMs).toISOString(),
  };
}

/**
 * The JSON of a dead letter, and of a list with its outcome. The event's bytes are copied, because encoding a large event again would take
 * long.
 */
export function deadLetterBytes({ dead_letter, ...rest }: DeadLettered, event: Uint8Array): { letter: Buffer; outcomes: Buffer } {
  const { event: _event, ...about } = dead_letter;
  const letter = Buffer.concat([Buffer.from(`${JSON.stringify(about).slice(0, -1)},"event":`), event, Buffer.from('}')]);
  const told = Buffer.from(`[${JSON.stringify(rest).slice(0, -1)},"dead_letter":`);
  return { letter, outcomes: Buffer.concat([told, letter, Buffer.from('}]')]) };
}
/** The JSON of its event. */
export function eventJsonOf({ decoded: { event, json } }: Pick<HeldEvent, 'decoded'>): Uint8Array {
  return isReadable(event) ? json : Buffer.from(JSON.stringify(event));
}

/** For an event so large that the log cannot store its dead letter. */
export function withoutEvent(outcome: DeadLettered): DeadLettered {
  const { event_id, type, event, anonymous_id, user_id, timestamp } = outcome.dead_letter.event as CanonicalEvent;
  const head: TruncatedEvent = {
    event_id,
    type,
    event: toldName(event),
    anonymous_id: toldId(anonymous_id),
    user_id: toldId(user_id),
    timestamp,
    truncated: true,
  };
  return { ...outcome, dead_letter: { ...outcome.dead_letter, event: head } };
}

const STAGES = {
  delivered: 'delivered',
  accepted: 'accepted_by_vendor',
  retry: 'retrying',
  dropped: 'dropped',
  dead_letter: 'dead_lettered',
} as const;

/** A frame of the live view. */
export function tapFrameOf(held: HeldEvent, settlement: Settlement): Parameters<Tap['emit']>[1] {
  const { event, shared: meta } = held.decoded;
  const attempt =
    settlement.kind === 'dead_letter' ? settlement.attempts.at(-1) : settlement.kind === 'dropped' ? undefined : settlement.attempt;
  return {
    stage: STAGES[settlement.kind],
    ...('reason' in settlement ? { reason: settlement.reason } : {}),
    ...(attempt === undefined ? {} : { duration_ms: attempt.duration_ms }),
    ...(attempt === undefined || attempt.status === null ? {} : { status: attempt.status }),
    pipeline_id: meta.pipeline_id,
    integration_id: held.compiled.integration.id,
    event_id: event.event_id,
    type: event.type,
    ...(event.original_type === undefined ? {} : { original_type: event.original_type }),
    ...(event.event === undefined ? {} : { event: event.event }),
    payload: event,
  };
}
