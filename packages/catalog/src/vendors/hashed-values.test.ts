import { expect, test } from 'vitest';
import { loadVendors } from '../index.ts';
import { compileCase, requestsFor } from './shared/run-case.ts';
import { grouped, identified, orderCompleted, track } from './shared/sample-events.ts';

const VENDORS = new Map((await loadVendors()).map((vendor) => [vendor.key, vendor]));
const HASHED_EMAIL = 'a1'.repeat(32);
const HASHED_PHONE = 'B2'.repeat(32);
const traits = { email: HASHED_EMAIL, phone: HASHED_PHONE };
const events = [
  identified({ traits }),
  grouped({ context: { traits } }),
  orderCompleted({}, { traits }),
  track('Signed Up', {}, { traits }),
  track('Lead Generated', {}, { traits }),
];

function sentBy(key: string): string {
  const vendor = VENDORS.get(key)!;
  return vendor.variants
    .flatMap((variant) => events.flatMap((event) => requestsFor(compileCase(vendor, variant.key), event, {}, vendor.chain).requests))
    .map(({ url, body }) => `${url} ${body}`.toLowerCase())
    .join();
}

/** They write to the address, call the number or show them to people. */
const PLAIN = [
  ...['activecampaign', 'attentive', 'attio', 'bloomreach', 'braze', 'brevo', 'clevertap', 'cordial', 'courier', 'customer_io', 'emarsys'],
  ...['gainsight_px', 'hubspot', 'insider', 'intercom', 'iterable', 'klaviyo', 'knock', 'loops', 'mailchimp', 'moengage', 'onesignal'],
  ...['ortto', 'pipedrive', 'postscript', 'resend', 'salesforce', 'salesforce_marketing_cloud', 'sendgrid', 'zendesk', 'zoho_crm'],
];
test.each(PLAIN)('%s gets no hash as an address or a number', (key) => {
  const sent = sentBy(key);
  expect([HASHED_EMAIL, HASHED_PHONE].filter((hash) => sent.includes(hash.toLowerCase()))).toEqual([]);
});

test.each(['meta_conversions_api', 'criteo', 'impact'])('%s gets the hash as it is', (key) => {
  expect(sentBy(key)).toContain(HASHED_EMAIL);
});
