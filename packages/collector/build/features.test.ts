import { expect, test } from 'vitest';
import webhook from '../../catalog/src/vendors/webhook/vendor.ts';
import { aPipeline } from '../test/fixtures.ts';
import { constantsOf } from './features.ts';

test.each([
  ['no filter', null, null],
  ['a filter without names', {}, null],
  ['an empty list of names passes every event, as on the server', { event_names: [] }, null],
  ['names', { event_names: ['Wanted'] }, ['Wanted']],
])('a client-side integration with %s', (_name, event_filter, names) => {
  const one = { integration_id: 'int_1', vendor: 'webhook', definition: webhook, config: { url: 'https://hooks.example/' }, event_filter };
  const { C_CLIENT_SIDE } = constantsOf({ pipeline: aPipeline(), client_side: [one] });
  expect(JSON.parse(C_CLIENT_SIDE)).toMatchObject([{ names }]);
});

test.each([
  ['functional', undefined, ['functional', 'functionality_storage', 'personalization', 'personalization_storage', 'preferences']],
  ['preferences', undefined, ['functional', 'functionality_storage', 'personalization', 'personalization_storage', 'preferences']],
  ['marketing', { preferences: 'marketing' }, ['ad_storage', 'marketing', 'preferences']],
])('%s is granted under the names that the server knows', (required_category, mapping, names) => {
  const pipeline = aPipeline({ consent_config: { required_category } });
  const { C_REQUIRED } = constantsOf({ pipeline, client_side: [], ...(mapping === undefined ? {} : { consent_mapping: mapping }) });
  expect(C_REQUIRED?.[0]).toEqual([names]);
});
