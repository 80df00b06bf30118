import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEventRecord, encodeEventRecord, eventRecordId, openEventRecord } from './event-record.ts';

const meta = { received_at: 1_700_000_000_000, org_id: 'org_1', pipeline_id: 'pl_1' };

test('any event round-trips', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, name) => {
      const event = { event_id: 'e', type: 'track', event: name, timestamp: 't', context: { value } } as CanonicalEvent;
      const data = encodeEventRecord(meta, event);
      const same = JSON.parse(JSON.stringify({ meta: { ...meta, event_id: 'e' }, event_id: 'e', event }));
      expect(decodeEventRecord(data)).toMatchObject(same);
      const { meta: opened, event_id, event: read } = openEventRecord(data);
      expect({ meta: opened, event_id, event: read }).toEqual(same);
    }),
  );
});

test('every field of the metadata survives: a forgotten one left traces of half an event', () => {
  const event: CanonicalEvent = { event_id: 'e', type: 'track', timestamp: 't', context: {} };
  const full = { ...meta, untraced: true as const, revision_number: 3 };
  expect(openEventRecord(encodeEventRecord(full, event)).meta).toEqual({ ...full, event_id: 'e' });
});

test('the JSON of an event equals parsing and serialising it again, byte for byte', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (value, properties) => {
      const event = { event_id: 'e', type: 'track', timestamp: 't', context: { value }, properties } as CanonicalEvent;
      const data = encodeEventRecord(meta, event);
      expect(Buffer.from(openEventRecord(data).json).toString()).toBe(JSON.stringify(decodeEventRecord(data).event));
    }),
  );
});

test('a record of an earlier version, without the id in its meta line, is opened by reading the event', () => {
  const data = Buffer.from(`${JSON.stringify(meta)}\n{"event_id":"old","type":"page"}`);
  expect(openEventRecord(data)).toMatchObject({ meta, event_id: 'old', event: { type: 'page' } });
});

test.each(['{"event_id"', '', 'x', '[1]'])('what is no object is not opened: %j', (json) => {
  expect(() => openEventRecord(Buffer.from(`${JSON.stringify({ ...meta, event_id: 'e' })}\n${json}`)).event.event_id.length).toThrow();
});

test('an event that was opened and does not parse is shown as it was found', () => {
  const data = Buffer.from(`${JSON.stringify({ ...meta, event_id: 'e' })}\n{"a":}`);
  expect(openEventRecord(data).event).toEqual({
    event_id: 'e',
    type: 'track',
    timestamp: '2023-11-14T22:13:20.000Z',
    context: { unreadable: '{"a":}' },
  });
});

test('bytes without a meta line throw', () => {
  expect(() => decodeEventRecord(Buffer.from('{}'))).toThrow('no meta line');
});

test('a replay has a new id', () => {
  expect(eventRecordId('pl_1', 'e')).toBe('pl_1:e');
  expect(eventRecordId('pl_1', 'e', 'rpl_1')).toBe('pl_1:e#rpl_1');
});

test('the metadata of records that follow each other, of the same and of other pipelines', () => {
  const name = fc.oneof(fc.constantFrom('a', 'b', '"', '\\', '"}', '","event_id":"'), fc.string({ unit: 'binary', maxLength: 3 }));
  const one = fc.record(
    {
      received_at: fc.constantFrom(0, 5, 1_700_000_000_000),
      org_id: name,
      pipeline_id: name,
      event_id: name,
      untraced: fc.constant(true as const),
    },
    { requiredKeys: ['received_at', 'org_id', 'pipeline_id', 'event_id'] },
  );
  fc.assert(
    fc.property(fc.array(one, { minLength: 2, maxLength: 6 }), fc.dictionary(name, fc.boolean(), { maxKeys: 1 }), (list, integrations) => {
      for (const { event_id, ...about } of list) {
        const event: CanonicalEvent = { event_id, type: 'track', timestamp: 't', context: {} };
        expect(openEventRecord(encodeEventRecord(about, event)).meta).toEqual({ ...about, event_id });
        const wanted = { ...about, event_id, integrations };
        expect(openEventRecord(encodeEventRecord(about, { ...event, integrations })).meta).toEqual(JSON.parse(JSON.stringify(wanted)));
      }
    }),
  );
});
