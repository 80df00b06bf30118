import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import { expect, test } from 'vitest';
import type { Source } from './sources.ts';
import { tryPayload } from './try-payload.ts';

const source = { ...webhookSource.defaults, provider: 'custom', source_type: 'custom' } as Source;
const reading = JSON.stringify({ event_type_path: null, mappings: { event: "'Order'", 'properties.order': '$.id' } });
const tried = (payload: string, how = reading) => tryPayload(source, how, payload, {}, Date.parse('2026-05-01T12:00:00Z'));

test.each([
  ['820982911946154508', '820982911946154508'],
  ['9007199254740993', '9007199254740993'],
  ['-9007199254740994', '-9007199254740994'],
  ['9007199254740991', 9_007_199_254_740_991],
])('the id %s is shown as the service would store it', (id, order) => {
  expect(tried(`{"id":${id}}`)).toMatchObject({ ok: true, events: [{ properties: { order } }] });
});

test.each([
  ['{"id":0.1234567890123456789}', 'The body contains a number that cannot be stored exactly.'],
  ['{"id":', expect.stringContaining('JSON')],
])('%s is no payload', (payload, reason) => {
  expect(tried(payload)).toEqual({ ok: false, reason });
});
test('a reading that is no JSON', () => {
  expect(tried('{}', '{')).toEqual({ ok: false, reason: expect.stringContaining('JSON') });
});
