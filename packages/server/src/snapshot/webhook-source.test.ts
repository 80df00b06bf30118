import { SOURCES } from '@firsthand/catalog/sources/index.ts';
import { compileMapping } from '@firsthand/core/inbound/map-webhook.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aSource } from '../roles/ingest/testing/harness.ts';
import { compileWebhookSource, PROVIDERS, validateWebhookSource } from './webhook-source.ts';

const FAULTS: [name: string, body: Record<string, unknown>, fields: string[]][] = [
  ['nothing', {}, []],
  [
    'everything right',
    { source_type: 'custom', mappings: { event: "'X'", 'properties.a': '$.a' }, event_type_path: null, timestamp_format: 'iso8601' },
    [],
  ],
  ['nulls', { event_type_path: null, mappings: null, timestamp_path: null, signature_header: null }, []],
  ['an unknown kind', { source_type: 'bank' }, ['source_type']],
  ['an unknown provider', { provider: 'paypal' }, ['provider']],
  ['an unknown time format', { timestamp_format: 'rfc822' }, ['timestamp_format']],
  ['an unknown method', { signature_method: 'md5' }, ['signature_method']],
  ['no header for a method that needs one', { source_type: 'custom', signature_method: 'hmac_sha256' }, ['signature_header']],
  ['a header that is none', { signature_header: 'a b' }, ['signature_header']],
  ['a header with a newline', { signature_header: 'a\r\nb' }, ['signature_header']],
  ['a path without $.', { mappings: { 'properties.a': 'a.b' } }, []],
  ['a bad path', { mappings: { 'properties.a': 'a b' } }, ['mappings.properties.a']],
  ['a header without $', { mappings: { messageId: 'headers.x-id' } }, ['mappings.messageId']],
  ['a preset by its provider', { source_type: 'custom', provider: 'github' }, []],
  ['consent', { default_consent: { marketing: true, analytics: false } }, []],
  ['consent that is no yes or no', { default_consent: { marketing: 'granted' } }, ['default_consent.marketing']],
  ['a category that is none', { default_consent: { 'Mar Keting': true } }, ['default_consent.Mar Keting']],
  ['a bad target', { mappings: { color: '$.a' } }, ['mappings.color']],
  ['an empty target', { mappings: { 'properties.': '$.a' } }, ['mappings.properties.']],
  ['a mapping that is no text', { mappings: { event: 1 } }, ['mappings.event']],
  ['mappings as a list', { mappings: [] }, ['mappings']],
  ['a bad type path', { event_type_path: '$type' }, ['event_type_path']],
  ['a type path that is a number', { event_type_path: 5 }, ['event_type_path']],
  ['a bad time path', { timestamp_path: '$..x' }, ['timestamp_path']],
  ['a name map that is no text', { event_name_map: { a: 1 } }, ['event_name_map.a']],
  ['an empty secret', { signing_secret: '' }, ['signing_secret']],
];
test.each(FAULTS)('%s', (_name, body, fields) => {
  expect(validateWebhookSource(body).map((fault) => fault.field)).toEqual(fields);
});

test('every kind has a provider, and every provider a definition that compiles', () => {
  for (const [type, provider] of Object.entries(PROVIDERS))
    expect(SOURCES.find((source) => source.provider === provider)?.source_type).toBe(type);
  for (const definition of SOURCES) {
    const { faults } = compileMapping(definition, aSource({ source_type: definition.source_type }));
    expect(faults, definition.provider).toEqual([]);
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  }
});
test('a source that does not compile is off, with its faults', () => {
  expect(compileWebhookSource(aSource({ mappings: { event: 'no path' } }))).toMatchObject({
    ok: false,
    faults: [{ field: 'mappings.event' }],
  });
});
test("a user's mapping wins over the provider's, field by field", () => {
  const result = compileWebhookSource(
    aSource({
      provider: 'stripe',
      source_type: 'payment_processor',
      mappings: { userId: '$.account' },
      event_name_map: { 'invoice.paid': 'Paid' },
    }),
  );
  const body = { id: 'e', type: 'invoice.paid', created: 1, account: 'acct', data: { object: { customer: 'cus', currency: 'eur' } } };
  expect(result.ok && result.source.map({ body, headers: {}, query: {} }, 0)).toMatchObject({
    ok: true,
    events: [{ event: 'Paid', userId: 'acct', properties: { currency: 'EUR' } }],
  });
});
test('no payload makes a mapping throw', () => {
  const compiled = SOURCES.map((definition) => compileMapping(definition, aSource({ source_type: definition.source_type })).map);
  fc.assert(
    fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.string()), (body, headers) => {
      for (const map of compiled) map({ body, headers, query: headers }, 0);
    }),
  );
});
