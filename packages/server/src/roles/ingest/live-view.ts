/** Frames for the live view. Keys, tokens and whatever the privacy rules remove stay out of them. */
import { eventType, originalType } from '@firsthand/core/event/canonicalise.ts';
import { type JsonObject, own } from '@firsthand/core/json.ts';
import { shownBody } from '@firsthand/core/privacy/shown-body.ts';
import { messageOf, type Rejection } from '../../http/collection-reply.ts';
import { COLLECTION_ERRORS } from '../../http/errors.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { IngestContext } from './deps.ts';

/** Takes `event` over: it is changed for display. */
export function showReceived(
  ctx: IngestContext,
  rules: IngestRules,
  event: JsonObject,
  about: { eventId: string; impliedType: string | undefined },
): void {
  const organisation = ctx.snapshots.current().organisations.get(rules.orgId);
  // The organisation was deleted a moment ago: there is no viewer.
  if (organisation === undefined) return;
  const name = own(event, 'event');
  const call = String(own(event, 'type') ?? about.impliedType);
  const original = originalType(call);
  ctx.tap.emit(rules.orgId, {
    stage: 'received',
    pipeline_id: rules.pipelineId,
    event_id: about.eventId,
    type: eventType(call),
    ...(original === undefined ? {} : { original_type: original }),
    ...(typeof name === 'string' ? { event: name } : {}),
    payload: shownBody(event, organisation.pii),
  });
}

/** `event`: of a single event, its id and its place in the batch. */
export function showRejected(
  ctx: IngestContext,
  rules: IngestRules,
  rejection: Rejection,
  event: { eventId?: string; index?: number } = {},
): void {
  if (!ctx.tap.watched(rules.orgId)) return;
  ctx.tap.emit(rules.orgId, {
    stage: 'rejected',
    pipeline_id: rules.pipelineId,
    ...(event.eventId === undefined ? {} : { event_id: event.eventId }),
    reason: rejection.code,
    status: COLLECTION_ERRORS[rejection.code].status,
    payload: { ...(event.index === undefined ? {} : { index: event.index }), message: messageOf(rejection) },
  });
}
