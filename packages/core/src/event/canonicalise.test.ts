import { expect, test } from 'vitest';
import { canonicalise } from './canonicalise.ts';
import { decodeEnvelope, encodeEnvelope, type IngestEnvelope } from './envelope.ts';

const RECEIVED = Date.parse('2026-03-01T12:00:00.000Z');
const base: IngestEnvelope = { v: 1, org_id: 'org_1', pipeline_id: 'pl_1', event_id: 'e1', received_at: RECEIVED, source: 'server' };
const of = (body: object, envelope: Partial<IngestEnvelope> = {}) =>
  canonicalise({ ...base, ...envelope }, new TextEncoder().encode(JSON.stringify(body)));
const seen = '2026-03-01T12:00:00.000Z';

const CASES: [name: string, body: object, envelope: Partial<IngestEnvelope>, event: object][] = [
  [
    'a track event',
    { type: 'track', event: 'Order Completed', userId: 'u1', properties: { total: 42 }, timestamp: '2026-03-01T11:59:00Z' },
    { anonymous_id: 'a1' },
    {
      event_id: 'e1',
      type: 'track',
      event: 'Order Completed',
      anonymous_id: 'a1',
      user_id: 'u1',
      timestamp: '2026-03-01T11:59:00.000Z',
      context: {},
      properties: { total: 42 },
    },
  ],
  [
    'a missing timestamp is the time of receipt',
    { type: 'track', event: 'X' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: {} },
  ],
  [
    'a page has a name, no event',
    { type: 'page', name: 'Home', event: 'no' },
    {},
    { event_id: 'e1', type: 'page', name: 'Home', timestamp: seen, context: {} },
  ],
  [
    "a page's category is kept",
    { type: 'page', category: 'Docs', properties: { url: 'u' } },
    {},
    { event_id: 'e1', type: 'page', timestamp: seen, context: {}, properties: { url: 'u', category: 'Docs' } },
  ],
  [
    'a screen is a page',
    { type: 'screen', name: 'Cart' },
    {},
    { event_id: 'e1', type: 'page', original_type: 'screen', name: 'Cart', timestamp: seen, context: {} },
  ],
  [
    'the path tells the type',
    { name: 'Cart' },
    { type: 'screen' },
    { event_id: 'e1', type: 'page', original_type: 'screen', name: 'Cart', timestamp: seen, context: {} },
  ],
  [
    'an alias is an identify',
    { type: 'alias', userId: 'u', previousId: 'a1' },
    { anonymous_id: 'a1' },
    { event_id: 'e1', type: 'identify', original_type: 'alias', anonymous_id: 'a1', user_id: 'u', timestamp: seen, context: {} },
  ],
  [
    'an alias of two known ids keeps both',
    { type: 'alias', userId: 'u', previousId: 'old' },
    { anonymous_id: 'a1' },
    {
      event_id: 'e1',
      type: 'identify',
      original_type: 'alias',
      anonymous_id: 'a1',
      user_id: 'u',
      timestamp: seen,
      context: { previous_id: 'old' },
    },
  ],
  [
    'a group',
    { type: 'group', groupId: 'g', traits: { plan: 'x' } },
    {},
    { event_id: 'e1', type: 'group', group_id: 'g', timestamp: seen, context: {}, traits: { plan: 'x' } },
  ],
  [
    'traits from the context, moved',
    { type: 'track', event: 'X', context: { traits: { email: 'e' }, locale: 'fr' } },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: { locale: 'fr' }, traits: { email: 'e' } },
  ],
  [
    "the body's traits win",
    { type: 'identify', userId: 'u', traits: { a: 1 }, context: { traits: { b: 2 } } },
    {},
    { event_id: 'e1', type: 'identify', user_id: 'u', timestamp: seen, context: { traits: { b: 2 } }, traits: { a: 1 } },
  ],
  [
    'userAgent is renamed, the token is gone, the rest passes',
    { type: 'track', event: 'X', context: { userAgent: 'UA', challenge_token: 't', custom: [1] } },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: { user_agent: 'UA', custom: [1] } },
  ],
  [
    'what the connection told is left to the context step, which says so in the trace',
    { type: 'track', event: 'X' },
    { ip: '192.0.2.1', user_agent: 'UA', gpc: true },
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: {} },
  ],
  [
    "the client's own address and user agent win",
    { type: 'track', event: 'X', context: { ip: '198.51.100.1', userAgent: 'Mine' } },
    { ip: '192.0.2.1', user_agent: 'UA' },
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: { ip: '198.51.100.1', user_agent: 'Mine' } },
  ],
  [
    "the batch's context fills what the event lacks",
    { type: 'track', event: 'X', context: { locale: 'fr' } },
    { context: { locale: 'en', library: { name: 'l' } } },
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: { locale: 'fr', library: { name: 'l' } } },
  ],
  [
    'vendor ids of the request, the client own ones winning',
    { type: 'track', event: 'X', context: { vendor_ids: { fbp: 'mine' } } },
    { vendor_ids: { fbp: 'cookie', ttp: 't' } },
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: { vendor_ids: { fbp: 'mine', ttp: 't' } } },
  ],
  [
    'a clock 59 s off is left alone',
    { type: 'track', event: 'X', timestamp: '2026-03-01T11:59:01.000Z', sentAt: '2026-03-01T11:59:01.000Z' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2026-03-01T11:59:01.000Z', context: {} },
  ],
  [
    'a clock a year off is corrected',
    { type: 'track', event: 'X', timestamp: '2025-03-01T11:59:50.000Z', sentAt: '2025-03-01T12:00:00.000Z' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2026-03-01T11:59:50.000Z', context: {} },
  ],
  [
    'a corrected time stays within the years that a timestamp may have',
    { type: 'track', event: 'X', timestamp: '9999-12-31T00:00:00.000Z', sentAt: '2020-03-01T12:00:00.000Z' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '9999-12-31T23:59:59.999Z', context: {} },
  ],
  [
    "the batch's sentAt corrects too",
    { type: 'track', event: 'X', timestamp: '2026-03-01T13:00:00.000Z' },
    { sent_at: '2026-03-01T13:30:00.000Z' },
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2026-03-01T11:30:00.000Z', context: {} },
  ],
  [
    'a sentAt that is no time changes nothing',
    { type: 'track', event: 'X', timestamp: '2025-03-01T11:59:50.000Z', sentAt: 'now' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2025-03-01T11:59:50.000Z', context: {} },
  ],
  [
    'originalTimestamp stands for a missing timestamp',
    { type: 'track', event: 'X', originalTimestamp: '2026-03-01T11:58:00.000Z', sentAt: '2026-03-01T11:59:59.000Z' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2026-03-01T11:58:00.000Z', context: {} },
  ],
  [
    'sentAt corrects originalTimestamp: a clock that is an hour ahead',
    { type: 'track', event: 'X', originalTimestamp: '2026-03-01T12:58:00.000Z', sentAt: '2026-03-01T13:00:00.000Z' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2026-03-01T11:58:00.000Z', context: {} },
  ],
  [
    'timestamp wins over originalTimestamp',
    { type: 'track', event: 'X', timestamp: '2026-03-01T11:00:00.000Z', originalTimestamp: '2026-03-01T10:00:00.000Z' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: '2026-03-01T11:00:00.000Z', context: {} },
  ],
  [
    'an originalTimestamp that is no time is the time of receipt',
    { type: 'track', event: 'X', originalTimestamp: 'soon' },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: {} },
  ],
  [
    'numeric ids are text',
    { type: 'group', groupId: 7, userId: 0 },
    { anonymous_id: '8' },
    { event_id: 'e1', type: 'group', group_id: '7', user_id: '0', anonymous_id: '8', timestamp: seen, context: {} },
  ],
  [
    'integrations are kept as booleans',
    { type: 'track', event: 'X', integrations: { All: false, Webhook: { secret: 1 }, braze: true } },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: {}, integrations: { All: false, Webhook: true, braze: true } },
  ],
  [
    'integrations that switch nothing off are left out',
    { type: 'track', event: 'X', integrations: { All: true } },
    {},
    { event_id: 'e1', type: 'track', event: 'X', timestamp: seen, context: {} },
  ],
];

test.each(CASES)('%s', (_name, body, envelope, event) => {
  expect(of(body, envelope)).toEqual(event);
});

test('__proto__ is data and reaches no prototype', () => {
  const body =
    '{"type":"track","event":"X","context":{"__proto__":{"polluted":1}},"properties":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
  const event = canonicalise(base, new TextEncoder().encode(body));
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.getPrototypeOf(event.context)).toBe(Object.prototype);
  expect(JSON.stringify(event.context)).toBe('{"__proto__":{"polluted":1}}');
  expect(JSON.stringify(event.properties)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
});

test('an envelope and its bytes are read back as they were', () => {
  const body = new TextEncoder().encode('{"a":"line\\n",\n"b":"\u00e9"}');
  const { envelope, body: read } = decodeEnvelope(encodeEnvelope({ ...base, user_agent: 'a\nb' }, body));
  expect(envelope).toEqual({ ...base, user_agent: 'a\nb' });
  expect(read).toEqual(body);
});
