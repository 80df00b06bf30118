import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import type { Exchange } from './exchange.ts';

/** A frame for whoever watches live; keys and tokens stay out of it. */
export function tellReceived(exchange: Exchange, event: JsonObject, eventId: string): void {
  const rules = exchange.rules!;
  const { writeKey: _key, ...payload } = event;
  const context = own(payload, 'context');
  if (isObject(context) && Object.hasOwn(context, 'challenge_token')) {
    const { challenge_token: _token, ...rest } = context as JsonObject;
    payload.context = rest;
  }
  const name = own(event, 'event');
  exchange.ctx.tap.emit(rules.orgId, {
    stage: 'received',
    pipeline_id: rules.pipelineId,
    event_id: eventId,
    type: String(own(event, 'type') ?? exchange.route.implied),
    ...(typeof name === 'string' ? { event: name } : {}),
    payload,
  });
}
