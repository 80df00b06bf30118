import { type JsonObject, own } from '@firsthand/core/json.ts';
import { shownBody } from '@firsthand/core/privacy/shown-body.ts';
import type { Exchange } from './exchange.ts';

/** A frame for whoever watches live; keys and tokens stay out of it, and so does what the privacy rules will remove. Uses the event up. */
export function tellReceived(exchange: Exchange, event: JsonObject, eventId: string): void {
  const rules = exchange.rules!;
  const organisation = exchange.ctx.snapshots.current().organisations.get(rules.orgId);
  // Deleted in this moment: nobody is left to watch.
  if (organisation === undefined) return;
  const name = own(event, 'event');
  exchange.ctx.tap.emit(rules.orgId, {
    stage: 'received',
    pipeline_id: rules.pipelineId,
    event_id: eventId,
    type: String(own(event, 'type') ?? exchange.route.implied),
    ...(typeof name === 'string' ? { event: name } : {}),
    payload: shownBody(event, organisation.pii),
  });
}
