import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEventRecord, encodeEventRecord, eventRecordId } from './event-record.ts';

const meta = { received_at: 1_700_000_000_000, org_id: 'org_1', pipeline_id: 'pl_1' };

test('whatever stands in an event comes back equal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, name) => {
      const event = { event_id: 'e', type: 'track', event: name, timestamp: 't', context: { value } } as CanonicalEvent;
      expect(decodeEventRecord(encodeEventRecord(meta, event))).toEqual(JSON.parse(JSON.stringify({ meta, event })));
    }),
  );
});

test('bytes without a meta line throw', () => {
  expect(() => decodeEventRecord(Buffer.from('{}'))).toThrow('no meta line');
});

test('a replay has an id of its own', () => {
  expect(eventRecordId('pl_1', 'e')).toBe('pl_1:e');
  expect(eventRecordId('pl_1', 'e', 'rpl_1')).toBe('pl_1:e#rpl_1');
});
