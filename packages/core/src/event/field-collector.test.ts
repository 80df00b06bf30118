import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { CanonicalEvent } from './canonical.ts';
import { FieldCollector } from './field-collector.ts';

const event = (properties: JsonObject): CanonicalEvent => ({
  event_id: 'e',
  type: 'track',
  event: 'Seen',
  timestamp: '2026-01-01T00:00:00.000Z',
  context: {},
  properties,
});

test('a field is one field whatever its events have around it', () => {
  const collector = new FieldCollector();
  collector.add(event({ list: [], 'a.b': 1 }), 2);
  collector.add(event({ list: [{ price: 2 }, { price: 'none' }], 'a.b': true }), 1);
  const fields = collector.result().fields.filter(({ path }) => path.startsWith('properties'));
  expect(fields.map(({ path, types, example, last_seen_at }) => [path, types, example, Date.parse(last_seen_at)])).toEqual([
    ['properties.list', ['array'], null, 2],
    ['properties.list[*].price', ['number', 'string'], 2, 1],
    ['properties["a.b"]', ['boolean', 'number'], 1, 2],
  ]);
});

test('keys that lie too deep for a field are not collected without bound', () => {
  const collector = new FieldCollector();
  for (let n = 0; n < 1_500; n++) {
    let deep: JsonObject = { value: n };
    for (let depth = 0; depth < 13; depth++) deep = { [`k${n}`]: deep };
    collector.add(event(deep), 1);
  }
  const { fields, truncated } = collector.result();
  expect(fields.filter(({ path }) => path.startsWith('properties'))).toEqual([]);
  expect(truncated).toBe(true);
});
