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
