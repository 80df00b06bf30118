/** Google's Data Manager API (`events:ingest`), which Google Ads, Floodlight and Display & Video 360 share. Read on 2026-11-16. */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { PollDefinition } from '@firsthand/core/vendor/async-result.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from './answers.ts';
import { orderTotal } from './commerce.ts';
import { adConsent, advertisingId } from './device.ts';
import { from, set, use } from './mapping.ts';
import { refreshTokenOf } from './oauth.ts';
import * as source from './sources.ts';
import { product } from './sources.ts';
import { PHONE_COUNTRY } from './user-data.ts';

const HAS_PRODUCTS = { field: 'properties.products[0]', op: 'exists' };
const PHONE = use('normalize_phone', PHONE_COUNTRY);

const ADDRESS = 'userData.userIdentifiers[2].address';

/** An event. */
export const INGEST_LINES: JsonObject[] = [
  from('timestamp', 'eventTimestamp'),
  from([...source.ORDER_ID, 'event_id'], 'transactionId', ['to_string']),
  set('eventSource', 'WEB'),
  set('eventSource', 'APP', { when: source.IS_APP }),
  from('context.click_ids.gclid', 'adIdentifiers.gclid'),
  from('context.click_ids.gbraid', 'adIdentifiers.gbraid'),
  from('context.click_ids.wbraid', 'adIdentifiers.wbraid'),
  from(source.EMAIL, 'userData.userIdentifiers[0].emailAddress', ['normalize_gmail', 'sha256']),
  from(source.PHONE, 'userData.userIdentifiers[1].phoneNumber', [PHONE, 'sha256']),
  from(source.FIRST_NAME, `${ADDRESS}.givenName`, [use('normalize_name', 'given'), 'sha256']),
  from(source.LAST_NAME, `${ADDRESS}.familyName`, [use('normalize_name', 'family'), 'sha256']),
  from(source.COUNTRY, `${ADDRESS}.regionCode`, ['country_code', 'uppercase']),
  from(source.POSTAL_CODE, `${ADDRESS}.postalCode`, ['to_string', 'trim']),
  ...orderTotal('conversionValue'),
  from('properties.currency', 'currency', ['currency_code']),
  ...adConsent(['consent.adUserData', 'consent.adPersonalization'], ['CONSENT_GRANTED', 'CONSENT_DENIED']),
];
export const CART_LINES: JsonObject[] = [
  from(product('product_id', 'sku'), 'cartData.items[*].merchantProductId', ['to_string']),
  from(product('quantity'), 'cartData.items[*].quantity', ['to_integer'], { default: 1 }),
  from(product('price'), 'cartData.items[*].unitPrice', ['to_number']),
  from('properties.discount', 'cartData.transactionDiscount', ['to_number'], { when: HAS_PRODUCTS }),
];

/** Google requires all parts of an address: googleapis.dev, Google.Ads.DataManager.V1.AddressInfo. */
export const WHOLE_ADDRESS = ['givenName', 'familyName', 'regionCode', 'postalCode'].map((part) => `${ADDRESS}.${part}`);

/** One wrong event fails the whole request. */
export const WHOLE: AnswerRule = { status: [400], verdict: 'refused', reason: 'body.error.message', isolate: true };
export const INGEST_ANSWERS: AnswerRule[] = [{ status: [200], verdict: 'accepted', job: 'body.requestId' }, WHOLE, RETRY_TIMEOUT];

/** Google says when to ask: after half an hour at first. It counts failed events and does not name them. */
const STATUS_AT = 'body.requestStatusPerDestination[0].requestStatus';
const FAILED_BECAUSE = 'body.requestStatusPerDestination[0].errorInfo.errorCounts';
export const REQUEST_STATUS: PollDefinition = {
  url: 'https://datamanager.googleapis.com/v1/requestStatus:retrieve',
  query: { requestId: '{{job.id}}' },
  first_ms: 1_800_000,
  every_ms: 1_800_000,
  within_ms: 86_400_000,
  answers: [
    { status: [200], when: { field: STATUS_AT, op: 'eq', value: 'SUCCESS' }, verdict: 'delivered' },
    { status: [200], when: { field: STATUS_AT, op: 'eq', value: 'PARTIAL_SUCCESS' }, verdict: 'delivered', reason: FAILED_BECAUSE },
    { status: [200], when: { field: STATUS_AT, op: 'eq', value: 'FAILED' }, verdict: 'refused', reason: FAILED_BECAUSE },
    { status: [200], verdict: 'accepted' },
  ],
};

/** The identifiers that Floodlight takes in addition. */
export const FLOODLIGHT_LINES: JsonObject[] = [
  from('context.click_ids.dclid', 'adIdentifiers.dclid'),
  advertisingId('adIdentifiers.mobileDeviceId'),
  from('context.ip', 'eventDeviceInfo.ipAddress', [], { when: { field: 'parameters.send_ip', op: 'eq', value: true } }),
  from('context.user_agent', 'eventDeviceInfo.userAgent'),
];

/** Events of one destination. The lane `destination` is the conversion action or the Floodlight activity. */
export function ingestRequest(account: { type: string; id: string; login_id: string; login_type: string }): RequestDefinition {
  return {
    method: 'POST',
    url: 'https://datamanager.googleapis.com/v1/events:ingest',
    auth: refreshTokenOf('google'),
    lane: ['destination'],
    body: {
      kind: 'json_list',
      under: 'events',
      common: {
        destinations: [
          {
            operatingAccount: { accountType: account.type, accountId: account.id },
            loginAccount: { $if: account.login_id, accountType: account.login_type, accountId: account.login_id },
            productDestinationId: '{{lane.destination}}',
          },
        ],
        encoding: 'HEX',
        validateOnly: { $ref: 'parameters.validate_only' },
      },
    },
    batch: { max_items: 2_000, max_bytes: 5_000_000, interval_ms: 5_000 },
    answers: INGEST_ANSWERS,
    poll: REQUEST_STATUS,
  };
}

export const INGEST_RULES = {
  event_name: { target: 'destination' },
  event_table: { field: 'destinations', event: 'event', vendor_event_name: 'destination_id' },
  together: [WHOLE_ADDRESS],
  compact: [{ path: 'userData.userIdentifiers' }, { path: 'cartData.items', needs: ['merchantProductId'] }],
  require_one_of: [
    [
      'adIdentifiers.gclid',
      'adIdentifiers.gbraid',
      'adIdentifiers.wbraid',
      'adIdentifiers.dclid',
      'adIdentifiers.mobileDeviceId',
      'userData.userIdentifiers',
    ],
  ],
  rate: { rps: 5, burst: 10, daily: 100_000 },
  concurrency: 2,
};
