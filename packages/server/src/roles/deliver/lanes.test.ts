import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeEventRecord } from '../../event-record.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';
import { partOf } from './integration-leases.ts';
import { groupOf, isInLane, type Lane, laneConcurrency, laneOfGroup, onlyLane, wantedLanes } from './lanes.ts';
import { anEvent, anIntegration, compiledWebhook } from './testing/bench.ts';

function aRecord(anonymous_id: string, time = 1_000, user_id?: string): StoredRecord {
  const event = anEvent('e', { anonymous_id, ...(user_id !== undefined && { user_id }) });
  return { id: 'r', position: '1', time, data: encodeEventRecord({ received_at: 0, org_id: 'o', pipeline_id: 'p' }, event) };
}
const lanesOf = (count: number, times: Pick<Lane, 'from' | 'to'>): Lane[] =>
  Array.from({ length: count }, (_, index) => ({ integrationId: 'int_1', generation: 1, index, count, ...times }));

test('every record is in exactly one lane of exactly one generation, and a visitor stays in its lane', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 16 }), fc.nat(2_000), (visitor, one, two, time) => {
      const all = [...lanesOf(one, { from: 0, to: 1_000 }), ...lanesOf(two, { from: 1_000, to: undefined })];
      const own = all.filter((lane) => isInLane(lane, aRecord(visitor, time), undefined));
      expect(own).toHaveLength(1);
      expect(own).toEqual(all.filter((lane) => isInLane(lane, aRecord(visitor, time < 1_000 ? 0 : 1_999), undefined)));
    }),
  );
});

test('a vendor that orders by user gets all events of a user from one lane', () => {
  const lanes = lanesOf(8, { from: 0, to: undefined });
  const laneOf = (visitor: string) => lanes.findIndex((lane) => isInLane(lane, aRecord(visitor, 5, 'user'), 'user'));
  expect(new Set(Array.from({ length: 50 }, (_, i) => laneOf(`v${i}`))).size).toBe(1);
});

test('a record that cannot be read is in one lane', () => {
  const broken: StoredRecord = { id: 'r', position: '1', time: 5, data: Buffer.from('no event') };
  expect(lanesOf(4, { from: 0, to: undefined }).filter((lane) => isInLane(lane, broken, undefined))).toHaveLength(1);
});

test('a group names its lane', () => {
  for (const lane of [onlyLane('int_1'), ...lanesOf(3, { from: 0, to: undefined })]) expect(laneOfGroup(groupOf(lane))).toEqual(lane);
});

test.each([
  ['as configured', { max_deliverers: 4 }, 4],
  ['no more than requests in flight', { max_deliverers: 16 }, 8],
  ['one with a daily limit', { max_deliverers: 4, rate_limit_daily: 10 }, 1],
])('number of lanes: %s', (_, overrides, expected) => {
  expect(wantedLanes(anIntegration({ ...compiledWebhook('http://a.test'), concurrency: 8 }, overrides))).toBe(expected);
});
test('an integration that does not compile keeps its lanes', () => {
  expect(wantedLanes(anIntegration(undefined, { max_deliverers: 4 }))).toBeUndefined();
});

test('lanes keep the in-flight limit together, and belong to parts far from each other', () => {
  const lanes = lanesOf(3, { from: 0, to: undefined });
  expect(lanes.map((lane) => laneConcurrency(8, lane))).toEqual([2, 2, 2]);
  const parts = lanes.map(partOf);
  expect(parts.map((part) => (part - (parts[0] ?? 0) + 16) % 16)).toEqual([0, 5, 10]);
});
