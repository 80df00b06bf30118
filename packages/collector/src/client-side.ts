/**
 * Integrations that the browser delivers itself, with the same compiled vendor as the server. Part of the bundle only if the
 * pipeline has one. The config contains no secret: service and builder both reject such integrations.
 */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { eventKey } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { isGranted } from './consent.ts';
import { emit } from './emitter.ts';
import { attempt } from './page.ts';
import type { Categories, Category, ClientSide, WireEvent } from './types.ts';

interface Target {
  category: Category;
  names: string[] | null;
  vendor: CompiledVendor;
}

let targets: Target[] | undefined;

const compileTargets = (): Target[] =>
  (JSON.parse(C_CLIENT_SIDE) as ClientSide[]).flatMap(({ category, names, config, definition }) => {
    const result = compileVendor(definition, config, {
      mode: 'development',
      allow_private: true,
    });
    return result.ok ? [{ category, names, vendor: result.vendor }] : [];
  });

/** Converts a wire event to a canonical event, as the server does. */
const canonical = (event: WireEvent): CanonicalEvent => {
  const { messageId, anonymousId, userId, groupId, context, type, timestamp, ...rest } = event;
  const { userAgent, challenge_token: _token, ...others } = context;
  return {
    ...(rest as Partial<CanonicalEvent>),
    event_id: messageId,
    type,
    timestamp: String(timestamp),
    anonymous_id: anonymousId,
    ...(userId === undefined ? {} : { user_id: userId }),
    ...(groupId === undefined ? {} : { group_id: String(groupId) }),
    context: { ...(others as JsonObject), user_agent: String(userAgent || navigator.userAgent) },
  };
};

const deliver = ({ vendor }: Target, event: CanonicalEvent) => {
  const now = Date.now();
  const built = vendor.build(event, { now });
  if (built.kind !== 'items') return;
  // One request per item: a single event rarely has several items.
  for (const item of built.items) {
    const { method, url, headers, body } = vendor.request([item], { now, attempt: 1, request_id: event.event_id });
    // These headers would need a preflight, which few vendors allow.
    for (const name of Object.keys(headers)) if (/^(user-agent|webhook-|x-firsthand-)/i.test(name)) delete headers[name];
    // fetch treats an undefined body as null, but its type does not allow it.
    const init = { method, headers, body: body as BodyInit | null, keepalive: !body || body.length < L_KEEPALIVE_CHARS };
    fetch(url, init).catch(() => emit('error', JSON.stringify(event)));
  }
};

export const deliverClientSide = (wire: WireEvent, categories: Categories | undefined) => {
  targets = targets || compileTargets();
  const event = canonical(wire);
  for (const target of targets) {
    const isWanted = !target.names || target.names.includes(eventKey(event));
    if (isWanted && isGranted(target.category, categories)) attempt(() => deliver(target, event));
  }
};
