import { type DataLayerConfig, DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { expect, test } from 'vitest';
import { currentFaults, messageAt, sectionOf } from './faults.ts';

const config = (change: Partial<DataLayerConfig>): DataLayerConfig => ({ ...structuredClone(DEFAULT_DATA_LAYER), ...change });
const custom_js = { enabled: true, code: 'function transform(' };

test('a fault goes when its field is mended, and the others stay', () => {
  const rule = (field: string) => ({ action: 'drop' as const, condition: { field, op: 'eq' as const, value: 1 } });
  const sent = config({ routing_rules: [rule('a['), rule('b[')] });
  const refused = currentFaults({}, sent, sent);
  expect(Object.keys(refused)).toEqual(['routing_rules[0].condition.field', 'routing_rules[1].condition.field']);
  expect(Object.keys(currentFaults(refused, sent, config({ routing_rules: [rule('a'), rule('b[')] })))).toEqual([
    'routing_rules[1].condition.field',
  ]);
});
test('what only the service can know stays until its section is changed', () => {
  const sent = config({ custom_js });
  const refused = { 'custom_js.code': 'Line 1: SyntaxError' };
  expect(currentFaults(refused, sent, { ...sent, session: { timeout_minutes: 5 } })).toEqual(refused);
  expect(currentFaults(refused, sent, config({ custom_js: { ...custom_js, code: 'function transform(e) { return e }' } }))).toEqual({});
});
test('a list names the entry that is wrong', () => {
  const faults = { 'bot_filtering.custom_patterns[1]': 'Is no pattern.' };
  expect(messageAt(faults, 'bot_filtering.custom_patterns', ['ok', '(']), 'by its text').toBe('(: Is no pattern.');
  expect([messageAt(faults, 'bot_filtering.action'), sectionOf('routing_rules[0].action')]).toEqual([undefined, 'routing_rules']);
});
