import { expect, test } from 'vitest';
import { encodeEventRecord } from '../../event-record.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';
import { RecordCache } from './record-cache.ts';
import { anEvent } from './testing/bench.ts';

const META = { received_at: 1, org_id: 'org_1', pipeline_id: 'pl_1' };
function aRecord(position: string): StoredRecord {
  return { id: position, data: encodeEventRecord(META, anEvent(position)), position, time: Number(position) };
}
const read = (cache: RecordCache, record: StoredRecord, others: number) => cache.decode('events.pl_1', record, others, true);
function inSteps(cache: RecordCache, record: StoredRecord, others: number) {
  const steps = cache.decodeInSteps('events.pl_1', record, others, true);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

test('integrations of one pipeline get the same parsed record', () => {
  const cache = new RecordCache(1_000_000);
  const record = aRecord('1');
  const first = read(cache, record, 3);
  expect(first.head.event_id).toBe('1');
  expect(read(cache, record, 3)).toBe(first);
  expect(inSteps(cache, record, 3)).toBe(first);
});

test('a record that all of them have read is forgotten (80 MB of parsed records stayed after a load)', () => {
  const cache = new RecordCache(1_000_000);
  for (let i = 0; i < 100; i++) {
    const record = aRecord(String(i));
    for (let reader = 0; reader < 3; reader++) expect((i % 2 ? inSteps : read)(cache, record, 2).head.event_id).toBe(String(i));
  }
  expect(cache.bytes).toBe(0);
});

test('the only reader keeps nothing', () => {
  const cache = new RecordCache(1_000_000);
  expect(read(cache, aRecord('1'), 0)).not.toBe(read(cache, aRecord('1'), 0));
  expect(cache.bytes).toBe(0);
});

test('while one of them waits, the oldest records are evicted, and it parses them itself without keeping them', () => {
  const one = aRecord('1000').data.length;
  const cache = new RecordCache(10 * one);
  const first = read(cache, aRecord('1001'), 1);
  for (let i = 1_002; i < 1_100; i++) read(cache, aRecord(String(i)), 1);
  expect(cache.bytes).toBe(10 * one);
  const again = read(cache, aRecord('1001'), 1);
  expect(again).not.toBe(first);
  expect(again.head.event_id).toBe('1001');
  for (let i = 1_001; i < 1_100; i++) (i % 2 ? inSteps : read)(cache, aRecord(String(i)), 1);
  expect(cache.bytes).toBe(0);
});
