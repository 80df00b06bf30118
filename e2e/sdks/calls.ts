/** The seven calls of a story in the dialects of the SDKs, and the event that must arrive for each. */

export type Method = 'track' | 'page' | 'screen' | 'group' | 'alias' | 'identify';
export interface Call {
  method: Method;
  /** Server SDKs take one message; browser SDKs take arguments and know the ids themselves. */
  args: unknown[];
  event: Record<string, unknown>;
  /** The call carries a time of its own; else the event's time is that of the call. */
  time?: string;
  /** Its `integrations` object switches the second integration off. */
  onlyFirst?: boolean;
}

export const ANONYMOUS = 'anon-1';
const ORDER = { order_id: 'o-1', total: 42.5, products: [{ sku: 'a', quantity: 2 }] };
const TRAITS = { email: 'ada@example.com', plan: 'pro' };
const campaign = { source: 'news' };

const track = { type: 'track', event: 'Order Completed', properties: ORDER };
const page = { type: 'page', name: 'Home', properties: { section: 'front' } };
const screen = { type: 'page', original_type: 'screen', name: 'Cart', properties: { items: 2 } };
const group = { type: 'group', group_id: 'g1', traits: { seats: 5 } };
const alias = { type: 'identify', original_type: 'alias', user_id: 'u0' };
const identify = { type: 'identify', user_id: 'u1', traits: TRAITS };
const last = { type: 'track', event: 'Refunded', user_id: 'u1', properties: { total: 1 }, context: { campaign } };

/** One message object for each call: the server SDKs of Segment, RudderStack and Customer.io. */
export function messageCalls(second: string): Call[] {
  const from = { anonymousId: ANONYMOUS, context: { ip: '198.51.100.4', userAgent: 'UA/1', locale: 'fr-FR' } };
  const by = { anonymous_id: ANONYMOUS, context: { ip: '198.51.100.4', user_agent: 'UA/1', locale: 'fr-FR' } };
  const calls: [Method, object, Call['event']][] = [
    ['track', { ...from, event: track.event, properties: ORDER }, { ...track, ...by }],
    ['page', { ...from, name: 'Home', properties: page.properties }, { ...page, ...by }],
    ['screen', { ...from, name: 'Cart', properties: screen.properties }, { ...screen, ...by }],
    ['group', { ...from, groupId: 'g1', traits: group.traits }, { ...group, ...by }],
    ['alias', { userId: 'u0', previousId: 'old-1' }, { ...alias, anonymous_id: 'old-1' }],
    ['identify', { ...from, userId: 'u1', traits: TRAITS }, { ...identify, ...by }],
    [
      'track',
      { userId: 'u1', event: last.event, properties: last.properties, context: { campaign }, integrations: { [second]: false } },
      last,
    ],
  ];
  return calls.map(([method, message, event], at) => {
    const time = `2026-03-01T12:00:0${at}.000Z`;
    const onlyFirst = 'integrations' in message;
    return { method, args: [{ ...message, timestamp: new Date(time) }], event, time, onlyFirst };
  });
}

/** Arguments: the browser SDKs of Segment and RudderStack. `alias` comes before `identify`, whose user id it would take. */
export function argumentCalls(second: string): Call[] {
  const by = { anonymous_id: ANONYMOUS, context: { ip: '127.0.0.1', page: { title: 'Shop' } } };
  return [
    { method: 'track', args: [track.event, ORDER], event: { ...track, ...by } },
    { method: 'page', args: ['Front', 'Home', page.properties], event: { ...page, ...by } },
    { method: 'screen', args: ['Cart', screen.properties], event: { ...screen, ...by } },
    { method: 'group', args: ['g1', group.traits], event: { ...group, ...by } },
    { method: 'alias', args: ['u0', 'old-1'], event: { ...alias, anonymous_id: ANONYMOUS, context: { previous_id: 'old-1' } } },
    { method: 'identify', args: ['u1', TRAITS], event: { ...identify, ...by } },
    {
      method: 'track',
      args: [last.event, last.properties, { context: { campaign }, integrations: { All: true, [second]: false } }],
      event: { ...last, anonymous_id: ANONYMOUS },
      onlyFirst: true,
    },
  ];
}

/** RudderStack's browser SDK has no `screen`. */
export const rudderStackCalls = (second: string): Call[] =>
  argumentCalls(second).map((call) => (call.method === 'screen' ? CART_VIEWED : call));

const CART_VIEWED: Call = {
  method: 'track',
  args: ['Cart Viewed', { items: 2 }],
  event: { type: 'track', event: 'Cart Viewed', properties: { items: 2 }, anonymous_id: ANONYMOUS },
};

/** Jitsu's SDK has no `screen`, `alias` and `integrations`. */
export function jitsuCalls(): Call[] {
  const by = { anonymous_id: ANONYMOUS };
  return [
    { method: 'track', args: [track.event, ORDER], event: { ...track, ...by } },
    { method: 'page', args: ['Home', page.properties], event: { ...page, ...by } },
    CART_VIEWED,
    { method: 'group', args: ['g1', group.traits], event: { ...group, ...by } },
    { method: 'track', args: ['Login Started', {}], event: { type: 'track', event: 'Login Started', ...by } },
    { method: 'identify', args: ['u1', TRAITS], event: { ...identify, ...by } },
    { method: 'track', args: [last.event, { ...last.properties, context: { campaign } }], event: { ...last, ...by } },
  ];
}
