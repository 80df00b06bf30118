import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEnvelope, encodeEnvelope, envelopeField, type IngestEnvelope, wrapEnvelope } from './envelope.ts';

const REQUIRED: IngestEnvelope = {
  v: 1,
  org_id: 'org_1',
  pipeline_id: 'pl_1',
  event_id: 'e',
  received_at: 1_700_000_000_000,
  source: 'server',
};

test.each([
  '',
  'plain ~ text',
  '"',
  '\\',
  '\n',
  '\u007f',
  'é',
  '\u2028',
  '😀',
  '\ud800',
  '","org_id":"org_2',
])('keeps the text %j', (text) => {
  const envelope = wrapEnvelope(envelopeField('user_agent', text));
  expect(envelope).toMatch(/^[\x00-\x7f]*$/);
  expect(JSON.parse(envelope)).toEqual({ v: 1, user_agent: text });
});

test('any envelope is read as it was written, and its text is ASCII', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }));
  const fields = fc.record(
    { event_id: text, user_agent: text, cookies: fc.dictionary(text, text), received_at: fc.nat() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fields, fc.uint8Array(), (given, body) => {
      const written = { ...REQUIRED, ...given };
      const bytes = encodeEnvelope(written, body);
      expect(bytes.subarray(0, bytes.indexOf(10)).every((byte) => byte < 128)).toBe(true);
      const read = decodeEnvelope(bytes);
      expect(read.envelope).toEqual(JSON.parse(JSON.stringify(written)));
      expect([...read.body]).toEqual([...body]);
    }),
  );
});
