import { expect, test } from 'vitest';
import { loadVendors } from '../index.ts';
import { compileCase, requestsFor } from './shared/run-case.ts';
import { CONTEXT, orderCompleted } from './shared/sample-events.ts';

/** What Apple and Google return where the user does not allow an id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';
const HASHED = ['12b9377cbe7e5c94e8a70d9d23929523d14afa954793130f8a3959c7b849aca8'];
/** They pass the context of the event on as it is. */
const RAW = new Set(['segment', 'rudderstack', 'webhook', 'custom_http']);
const VENDORS = (await loadVendors()).filter(({ key, group }) => group !== 'storage_and_streams' && !RAW.has(key));

test.each(['iOS', 'Android'])('no vendor gets the zeros that stand for a missing advertising id on %s', (name) => {
  const device = { id: '6D92078A-8246-4BA4-AE5B-76104861E7DC', advertising_id: NO_ID };
  const vendor_ids = { appsflyer_id: '1-1', kochava_device_id: 'K', ttp: 'ttp-1' };
  const context = { ...CONTEXT, app: { namespace: 'com.shop', version: '2' }, os: { name, version: '18' }, device, vendor_ids };
  const order = orderCompleted({}, { context });
  const gets = (vendor: (typeof VENDORS)[number]) =>
    vendor.variants.some(({ key }) =>
      requestsFor(compileCase(vendor, key), order).requests.some(({ url, body }) => {
        const text = `${url} ${body instanceof Uint8Array ? new TextDecoder().decode(body) : body}`;
        return [NO_ID, ...HASHED].some((value) => text.includes(value));
      }),
    );
  expect(VENDORS.filter(gets).map(({ key }) => key)).toEqual([]);
});
