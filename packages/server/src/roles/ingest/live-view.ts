/** Frames for the live view. Keys, tokens and whatever the privacy rules remove stay out of them. */
import { eventType, isEventCall, originalType } from '@firsthand/core/event/canonicalise.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { shownBodyInSteps } from '@firsthand/core/privacy/shown-body.ts';
import { finish } from '@firsthand/core/steps.ts';
import { messageOf, type Rejection } from '../../http/collection-reply.ts';
import { COLLECTION_ERRORS } from '../../http/errors.ts';
import type { IngestRecord } from '../../intake/ingest-record.ts';
import { AT_ONCE_BYTES } from '../../intake/parse-batch.ts';
import { finishInTurns, turns } from '../../runtime/turns.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { TapFrame } from '../../tap/port.ts';
import type { IngestContext } from './deps.ts';

/** Bytes of events that wait to be shown. Beyond them events are shown without their payload: a viewer must not fill the memory. */
export const MOST_WAITING_BYTES = 8_388_608;
let waitingBytes = 0;

export interface Received {
  /** Changed for display: the caller must not use it afterwards. */
  event: JsonObject;
  record: Pick<IngestRecord, 'eventId' | 'record'>;
}
/** The privacy rules look through all text of the events, of up to 5 MB: the loop gets turns in between, and the caller does not wait. */
export function showReceived(ctx: LiveViewContext, rules: ShownRules, received: readonly Received[], impliedType?: string): void {
  show(ctx, rules, received, impliedType).catch((error: unknown) => ctx.logger.error({ err: error }, 'received events not shown'));
}
type LiveViewContext = Pick<IngestContext, 'snapshots' | 'tap' | 'logger'>;
type ShownRules = Pick<IngestRules, 'orgId' | 'pipelineId'>;

async function show(
  ctx: LiveViewContext,
  rules: ShownRules,
  received: readonly Received[],
  impliedType: string | undefined,
): Promise<void> {
  const organisation = ctx.snapshots.current().organisations.get(rules.orgId);
  // The organisation was deleted a moment ago: there is no viewer.
  if (organisation === undefined) return;
  const bytes = received.reduce((sum, { record }) => sum + record.record.data.length, 0);
  const withPayload = waitingBytes + bytes <= MOST_WAITING_BYTES;
  const isSmall = bytes <= AT_ONCE_BYTES;
  if (withPayload) waitingBytes += bytes;
  try {
    for (const { event, record } of received) {
      const frame = receivedFrame(rules, event, record.eventId, impliedType);
      const steps = shownBodyInSteps(event, organisation.pii);
      const payload = !withPayload ? null : isSmall ? finish(steps) : await finishInTurns(steps);
      ctx.tap.emit(rules.orgId, { ...frame, payload });
      if (!isSmall) await turns.bulk();
    }
  } finally {
    if (withPayload) waitingBytes -= bytes;
  }
}

function receivedFrame(rules: ShownRules, event: JsonObject, event_id: string, impliedType: string | undefined): TapFrame {
  const name = own(event, 'event');
  const call = String(own(event, 'type') ?? impliedType);
  const original = originalType(call);
  return {
    stage: 'received',
    pipeline_id: rules.pipelineId,
    event_id,
    type: eventType(call),
    ...(original === undefined ? {} : { original_type: original }),
    ...(typeof name === 'string' ? { event: name } : {}),
  };
}

/** Of a single event: its id, its place in the batch, its body where it is parsed, and the type that the path implies. */
export interface ShownRejected {
  eventId?: string;
  index?: number;
  body?: unknown;
  impliedType?: string | undefined;
}
export function showRejected(ctx: IngestContext, rules: IngestRules, rejection: Rejection, event: ShownRejected = {}): void {
  if (!ctx.tap.watched(rules.orgId)) return;
  ctx.tap.emit(rules.orgId, {
    stage: 'rejected',
    pipeline_id: rules.pipelineId,
    ...(event.eventId === undefined ? {} : { event_id: event.eventId }),
    ...namesOf(isObject(event.body) ? event.body : {}, event.impliedType),
    reason: rejection.code,
    status: COLLECTION_ERRORS[rejection.code].status,
    payload: { ...(event.index === undefined ? {} : { index: event.index }), message: messageOf(rejection) },
  });
}

const MAX_NAME = 255;
/** A rejected body may have anything as its type and name. The filter of the live view finds it by its name, as other events. */
function namesOf(body: Record<string, unknown>, impliedType: string | undefined): Pick<TapFrame, 'type' | 'original_type' | 'event'> {
  const call = own(body, 'type') ?? impliedType;
  const name = own(body, 'event');
  const original = isEventCall(call) ? originalType(call) : undefined;
  return {
    ...(isEventCall(call) ? { type: eventType(call) } : {}),
    ...(original === undefined ? {} : { original_type: original }),
    ...(typeof name === 'string' && name !== '' ? { event: name.slice(0, MAX_NAME) } : {}),
  };
}
