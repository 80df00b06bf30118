/** Calls of the Segment specification, for vendors that accept them: Segment, RudderStack, Customer.io. */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { EventNameDefinition, Variant } from '@firsthand/core/vendor/definition.ts';
import { blueprints } from './blueprints.ts';
import { from, into, set } from './mapping.ts';
import { IS_APP } from './sources.ts';
import { readableTraits } from './user-data.ts';

const type = (...names: string[]) => ({ field: 'type', op: 'in', value: names });
const IS_ALIAS = { field: 'original_type', op: 'eq', value: 'alias' };
const context = into('context');

/**
 * The browser libraries send these with a page call twice, in the context and as properties, and what takes page calls reads the
 * properties: segment.com/docs/connections/spec/page, docs.customer.io/integrations/api/cdp (page).
 */
const PAGE = ['url', 'title', 'referrer', 'path', 'search'];
const IS_PAGE = [type('page'), { not: { field: 'original_type', op: 'eq', value: 'screen' } }];

const HAS_TRAITS = [type('identify', 'group'), { not: IS_ALIAS }];

/** Everything but `context` and the traits. Empty `event` marks a track call; `SPEC_EVENT_NAME` fills it in. */
const WITHOUT_TRAITS: JsonObject[] = [
  from(['original_type', 'type'], 'type'),
  from('event_id', 'messageId'),
  from('timestamp', 'timestamp'),
  from('user_id', 'userId'),
  // An alias joins two ids: the specification requires both.
  from('user_id', 'userId', [], { when: IS_ALIAS, required: true }),
  from('anonymous_id', 'anonymousId', [], { when: { not: IS_ALIAS } }),
  from(['context.previous_id', 'anonymous_id'], 'previousId', [], { when: IS_ALIAS, required: true }),
  set('event', '', { when: type('track') }),
  from('name', 'name'),
  from('group_id', 'groupId'),
  from('properties', 'properties', [], { when: type('track', 'page') }),
  ...PAGE.map((name) => from([`properties.${name}`, `context.page.${name}`], `properties.${name}`, [], { when: { all: IS_PAGE } })),
];
export const SPEC_CALL: JsonObject[] = [...WITHOUT_TRAITS, from('traits', 'traits', [], { when: { all: HAS_TRAITS } })];
/** For vendors that write to the address. */
export const SPEC_CALL_READABLE: JsonObject[] = [...WITHOUT_TRAITS, ...readableTraits('traits', HAS_TRAITS)];
/** The specification's own names of the context fields. */
export const SPEC_CONTEXT: JsonObject[] = [
  context('context.ip', 'ip'),
  context('context.user_agent', 'userAgent'),
  context('context.locale', 'locale'),
  context('context.timezone', 'timezone'),
  context('context.page', 'page'),
  context('context.campaign', 'campaign'),
  context('context.os', 'os'),
  context('context.app', 'app'),
  context('context.screen', 'screen'),
  context('context.network', 'network'),
  context('context.device.id', 'device.id'),
  context('context.device.manufacturer', 'device.manufacturer'),
  context('context.device.model', 'device.model'),
  context('context.device.name', 'device.name'),
  context('context.device.type', 'device.type'),
  context(['context.device.advertising_id', 'context.device.advertisingId'], 'device.advertisingId'),
  context(['context.device.ad_tracking_enabled', 'context.device.adTrackingEnabled'], 'device.adTrackingEnabled', [], { when: IS_APP }),
  context('context.group_id', 'groupId'),
  context('traits', 'traits', [], { when: type('track', 'page') }),
  set('context.library.name', 'firsthand'),
];

export const SPEC_EVENT_NAME: EventNameDefinition = { target: 'event', only_with: 'event' };

/** All calls keep their names, so the verticals differ only in the events that are listed for editing. */
export function specVariants(global: JsonObject[]): Variant[] {
  return blueprints({ names: 'keep', lines: {}, global });
}
