import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicaliseParsed } from './canonicalise.ts';
import type { IngestEnvelope } from './envelope.ts';
import { type CallRules, validateEvent } from './validate.ts';

const only = (type: string, pageNameRequired = false): CallRules => ({
  types: new Set([type]),
  fallback: undefined,
  pageNameRequired,
  compatible: false,
});
const track = only('track');
const page = only('page', true);
const anyPage = only('page');
const identify = only('identify');
const group = only('group');
const any: CallRules = {
  types: new Set(['track', 'page', 'identify', 'group', 'screen', 'alias']),
  fallback: undefined,
  pageNameRequired: false,
  compatible: false,
};
const longTrack: CallRules = { types: new Set(['track']), fallback: 'track', pageNameRequired: false, compatible: true };
const compatible: CallRules = { ...any, compatible: true };
const ok = { type: 'track', event: 'X' };

const CASES: [name: string, body: unknown, rules: CallRules, code: string | undefined][] = [
  ['a track event', ok, track, undefined],
  ['no type', { event: 'X' }, track, 'missing_field'],
  ['a null type', { type: null, event: 'X' }, track, 'missing_field'],
  ['no type where the path tells it', { event: 'X' }, longTrack, undefined],
  ["another path's type", { type: 'page', event: 'X' }, track, 'validation_failed'],
  ['a type that is no text', { type: 1, event: 'X' }, track, 'validation_failed'],
  ['no event name', { type: 'track' }, track, 'missing_field'],
  ['an empty event name', { type: 'track', event: '' }, track, 'missing_field'],
  ['an event name that is a number', { type: 'track', event: 5 }, track, 'validation_failed'],
  ['an event name of 1,024 characters', { type: 'track', event: 'x'.repeat(1_024) }, track, undefined],
  ['an event name of 1,025 characters', { type: 'track', event: 'x'.repeat(1_025) }, track, 'validation_failed'],
  ['a page with a name', { type: 'page', name: 'Home' }, page, undefined],
  ['a page without a name', { type: 'page' }, page, 'missing_field'],
  ['a page told by properties.url', { type: 'page', properties: { url: 'https://a.example/' } }, page, undefined],
  ['a page told by properties.path', { type: 'page', properties: { path: '/' } }, page, undefined],
  ['a page told by context.page.url', { type: 'page', context: { page: { url: 'https://a.example/' } } }, page, undefined],
  ['a page told by nothing but a title', { type: 'page', properties: { title: 'Home' } }, page, 'missing_field'],
  ['a page without a name elsewhere', { type: 'page' }, anyPage, undefined],
  ['an identify', { type: 'identify', userId: 'u1' }, identify, undefined],
  ['an identify without userId', { type: 'identify', anonymousId: 'a' }, identify, 'missing_field'],
  ['a null userId is none', { type: 'identify', userId: null }, identify, 'missing_field'],
  ['a numeric userId', { type: 'identify', userId: 7 }, identify, 'validation_failed'],
  ['a track with a null userId', { ...ok, userId: null }, track, undefined],
  ['a group', { type: 'group', groupId: 'g1' }, group, undefined],
  ['a group without groupId', { type: 'group', userId: 'u' }, group, 'missing_field'],
  ['a screen', { type: 'screen', name: 'Home' }, any, undefined],
  ['an alias', { type: 'alias', userId: 'u', previousId: 'a' }, any, undefined],
  ['an alias without userId', { type: 'alias', previousId: 'a' }, any, 'missing_field'],
  ['compatible: an anonymous identify', { type: 'identify', anonymousId: 'a', traits: {} }, compatible, undefined],
  ['compatible: the anonymous id in the context', { type: 'identify', context: { anonymousId: 'a' } }, compatible, undefined],
  ['compatible: an identify without any id', { type: 'identify', traits: {} }, compatible, 'missing_field'],
  ['compatible: a numeric userId', { type: 'identify', userId: 7 }, compatible, undefined],
  ['compatible: a numeric anonymousId', { ...ok, anonymousId: 0 }, compatible, undefined],
  ['compatible: a numeric groupId', { type: 'group', groupId: 7 }, compatible, undefined],
  ['compatible: numeric ids of an alias', { type: 'alias', userId: 7, previousId: 8 }, compatible, undefined],
  ['compatible: a userId that is a list', { ...ok, userId: [7] }, compatible, 'validation_failed'],
  ['compatible: a numeric messageId', { ...ok, messageId: 1 }, compatible, 'validation_failed'],
  ['strict: a numeric anonymousId', { ...ok, anonymousId: 7 }, any, 'validation_failed'],
  ['properties as a list', { ...ok, properties: [] }, track, 'validation_failed'],
  ['properties as text', { ...ok, properties: '{}' }, track, 'validation_failed'],
  ['context as text', { ...ok, context: 'x' }, track, 'validation_failed'],
  ['traits as a number', { ...ok, traits: 1 }, track, 'validation_failed'],
  ['null objects are none', { ...ok, properties: null, context: null, traits: null }, track, undefined],
  ['a timestamp that is no time', { ...ok, timestamp: 'soon' }, track, 'validation_failed'],
  ['a numeric timestamp', { ...ok, timestamp: 1_700_000_000 }, track, 'validation_failed'],
  ['an absurd timestamp', { ...ok, timestamp: '0000-01-01T00:00:00Z' }, track, 'validation_failed'],
  ['a messageId', { ...ok, messageId: ' !~' }, track, undefined],
  ['an empty messageId', { ...ok, messageId: '' }, track, 'validation_failed'],
  ['a messageId of 255', { ...ok, messageId: 'm'.repeat(255) }, track, undefined],
  ['a messageId of 256', { ...ok, messageId: 'm'.repeat(256) }, track, 'validation_failed'],
  ['a messageId with a newline', { ...ok, messageId: 'a\nb' }, track, 'validation_failed'],
  ['a messageId beyond ASCII', { ...ok, messageId: 'é' }, track, 'validation_failed'],
  ['a numeric messageId', { ...ok, messageId: 1 }, track, 'validation_failed'],
  ['a list', [ok], track, 'validation_failed'],
  ['null', null, track, 'validation_failed'],
  ['text', 'track', track, 'validation_failed'],
  ['names of a prototype are not fields', JSON.parse('{"__proto__":{"type":"track","event":"X"}}'), track, 'missing_field'],
];

test.each(CASES)('%s', (_name, body, rules, code) => {
  expect(validateEvent(body, rules)?.code).toBe(code);
});

const envelope: IngestEnvelope = {
  v: 1,
  org_id: 'org_1',
  pipeline_id: 'pl_1',
  event_id: 'e1',
  received_at: 1_700_000_000_000,
  source: 'server',
};
const field = <T>(value: fc.Arbitrary<T>) => fc.option(fc.oneof(value, fc.jsonValue()), { nil: undefined, freq: 6 });
const wild = fc.record({
  type: field(fc.constantFrom('track', 'page', 'identify', 'group', 'screen', 'alias')),
  event: field(fc.string()),
  name: field(fc.string()),
  userId: field(fc.string()),
  groupId: field(fc.string()),
  timestamp: field(fc.date({ noInvalidDate: true }).map((date) => date.toISOString())),
  sentAt: field(fc.date({ noInvalidDate: true }).map((date) => date.toISOString())),
  originalTimestamp: field(fc.date({ noInvalidDate: true }).map((date) => date.toISOString())),
  integrations: field(fc.dictionary(fc.string(), fc.oneof(fc.boolean(), fc.jsonValue()))),
  messageId: field(fc.string()),
  properties: field(fc.dictionary(fc.string(), fc.jsonValue())),
  traits: field(fc.dictionary(fc.string(), fc.jsonValue())),
  context: field(fc.dictionary(fc.string(), fc.jsonValue())),
});

test('nothing throws, and every valid event becomes a canonical event that survives JSON', () => {
  fc.assert(
    fc.property(fc.oneof(wild, fc.jsonValue()), (value) => {
      const body = JSON.parse(JSON.stringify(value) ?? 'null');
      if (validateEvent(body, compatible) !== undefined) return;
      const event = canonicaliseParsed(envelope, body);
      expect(['track', 'page', 'identify', 'group']).toContain(event.type);
      expect(new Date(event.timestamp).toISOString()).toBe(event.timestamp);
      expect(JSON.parse(JSON.stringify(event))).toEqual(event);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
