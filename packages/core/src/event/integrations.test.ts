import { expect, test } from 'vitest';
import { allowsIntegration, integrationSettings, readIntegrations } from './integrations.ts';

const meta = { id: 'int_1', vendor: 'meta_conversions_api', vendor_name: 'Meta Conversions API' };

const CASES: [name: string, sent: unknown, allowed: boolean][] = [
  ['nothing', undefined, true],
  ['no object', 'All', true],
  ['an empty object', {}, true],
  ['All: false', { All: false }, false],
  ['All: true', { All: true }, true],
  ['the vendor key alone', { meta_conversions_api: false }, false],
  ['the catalog name alone', { 'Meta Conversions API': false }, false],
  ['the catalog name in other case', { 'meta conversions api': false }, false],
  ['the integration id alone', { int_1: false }, false],
  ['all but this vendor', { All: false, meta_conversions_api: true }, true],
  ['all but this integration, with options', { All: false, int_1: { a: 1 } }, true],
  ['the id wins over the key', { meta_conversions_api: false, int_1: true }, true],
  ['another vendor is off', { braze: false }, true],
  ['a key of the prototype is no entry', JSON.parse('{"__proto__": {"All": false}}'), true],
];
// Segment merges the object of a batch with that of each of its events: https://www.twilio.com/docs/segment/connections/sources/catalog/libraries/server/http-api#batch
test.each<[name: string, ofBatch: object, ofEvent: unknown, allowed: boolean]>([
  ['an event without any has those of its batch', { All: false }, undefined, false],
  ['an event adds one to them', { All: false }, { meta_conversions_api: true }, true],
  ['an event overrules one of them', { All: false, meta_conversions_api: true }, { meta_conversions_api: false }, false],
  ['in another case too', { Meta_Conversions_API: true }, { meta_conversions_api: false }, false],
  ['an event that allows all', { All: false }, { All: true }, true],
  ['the batch allows one of an event that allows none', { int_1: {} }, { All: false }, true],
])('batch and event: %s', (_name, ofBatch, ofEvent, allowed) => {
  expect(allowsIntegration(readIntegrations(ofEvent, integrationSettings(ofBatch)), meta)).toBe(allowed);
});
test.each(CASES)('%s', (_name, sent, allowed) => {
  expect(allowsIntegration(readIntegrations(sent), meta)).toBe(allowed);
});
