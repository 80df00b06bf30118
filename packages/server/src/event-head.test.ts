import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEventHead, readTimestamp } from './event-head.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });
const named = fc.record(
  { event_id: text, type: fc.constant('track'), timestamp: text, event: text, anonymous_id: text, user_id: text },
  { requiredKeys: ['event_id', 'type', 'timestamp'] },
);
const others = fc.dictionary(fc.oneof(text, fc.constantFrom('context', 'properties', 'even', 'event_ids')), fc.jsonValue(), { maxKeys: 6 });

test('equals the fields of the parsed event, in any order and beside any other fields', () => {
  fc.assert(
    fc.property(named, others, fc.boolean(), fc.infiniteStream(fc.nat()), (head, more, before, order) => {
      const keys = Object.entries(before ? { ...more, ...head } : { ...more, ...head, ...more, ...head });
      const shuffled = keys.map((one) => [order.next().value, one] as const).toSorted(([a], [b]) => Number(a) - Number(b));
      const json = JSON.stringify(Object.fromEntries(shuffled.map(([, one]) => one)));
      const { event_id, type, timestamp, event, anonymous_id, user_id } = JSON.parse(json) as CanonicalEvent;
      const fields = JSON.parse(JSON.stringify({ event_id, type, timestamp, event, anonymous_id, user_id })) as Record<string, string>;
      const plain = Object.values(fields).every((value) => !JSON.stringify(value).includes('\\'));
      expect(readEventHead(Buffer.from(json))).toEqual(plain ? fields : undefined);
      expect([timestamp, undefined]).toContain(readTimestamp(Buffer.from(json)));
    }),
  );
});

test('fields of nested objects do not count', () => {
  const json = '{"context":{"event":"no","list":[{"user_id":"no"}]},"event_id":"e","type":"page","timestamp":"t"}';
  expect(readEventHead(Buffer.from(json))).toEqual({ event_id: 'e', type: 'page', timestamp: 't' });
});

test.each([
  '',
  '[]',
  '{}',
  '{"event_id":"e","type":"page"}',
  '{"event_id":5,"type":"page","timestamp":"t"}',
  '{"event_id":null,"type":"page","timestamp":"t"}',
  '{ "event_id":"e","type":"page","timestamp":"t"}',
  '{"event_id":"e","type":"page","timestamp":"t"',
  '{"event_id":"e","type":"page","timestamp":"t',
  '{"event_id":"e","type":"page","timestamp":"t\\',
  '{"event_id":"e","type":"page","context":{',
  '{"event_id":"e","type":"page","timestamp":"\\x"}',
])('another form is left to the parser: %j', (json) => {
  expect(readEventHead(Buffer.from(json))).toBeUndefined();
});

test.each([
  ['{"event_id":"e","type":"page","timestamp":"2026-01-01T00:00:00.000Z","context":{}}', '2026-01-01T00:00:00.000Z'],
  ['{"context":{"timestamp":"no"},"timestamp":"2026-01-01T00:00:00+02:00"}', '2026-01-01T00:00:00+02:00'],
  ['{"context":{"timestamp":"no"}}', undefined],
  ['{"timestamp":"2026\\u002d01"}', undefined],
  ['{"timestamp":5}', undefined],
  ['{"timestamp":"2026', undefined],
  ['[]', undefined],
])('the timestamp of %s', (json, expected) => {
  expect(readTimestamp(Buffer.from(`{}\n${json}`), 3)).toBe(expected);
});
