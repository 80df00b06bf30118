import { expect, test } from 'vitest';
import { tryRules } from './try-rules.ts';

const order = JSON.stringify({ type: 'track', event: 'Order Completed', properties: { total: 42 } });
const trial = {
  rules: [{ type: 'set', target: 'properties.shop', value: '{{pipeline_param.shop}}' }],
  event_filter: null,
  parameters: { shop: 'berlin' },
};

test('rules are applied with the parameters of the pipeline, and the sample stays as it is', () => {
  const { before, event, error } = tryRules(trial, order);
  expect([JSON.parse(before).properties, event, error]).toEqual([
    { total: 42 },
    { type: 'track', event: 'Order Completed', properties: { total: 42, shop: 'berlin' }, context: {} },
    null,
  ]);
  expect(tryRules({ ...trial, parameters: {} }, order).logs.join()).toMatch(/no parameter shop/);
});
test('fields stay in their order: the comparison of the texts shows what the rules changed, and nothing else', () => {
  const sample = { type: 'track', event: 'Order Completed', context: { ip: '203.0.113.9' }, properties: { total: 42 } };
  const { before, event } = tryRules({ ...trial, rules: [{ type: 'delete', target: 'properties.debug' }] }, JSON.stringify(sample));
  expect(JSON.stringify(event, null, 2)).toBe(before);
});
test('an event that the filter leaves out goes on as it is', () => {
  const { skipped, event } = tryRules({ ...trial, event_filter: { event_names: ['@page'] } }, order);
  expect([skipped, event]).toMatchObject([true, { properties: { total: 42 } }]);
});
test('says what is wrong with the rules, with their result, and with the sample', () => {
  expect(tryRules({ ...trial, rules: [{ type: 'set', target: '', value: 1 }] }, order).error).toMatch(/^rules/);
  expect(tryRules({ ...trial, rules: [{ type: 'set', target: 'properties', value: 'text' }] }, order).error).toMatch(/properties/);
  expect(['{', '{"properties":{"id":9007199254740993}}', '[]'].map((text) => tryRules(trial, text).error)).toEqual([
    expect.stringMatching(/^The sample event cannot be read/),
    expect.stringMatching(/properties.id cannot be kept exactly/),
    'The sample event must be a JSON object.',
  ]);
});
