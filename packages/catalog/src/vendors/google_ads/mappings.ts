import type { JsonObject } from '@firsthand/core/json.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { COMMERCE_EVENTS } from '../shared/standard-events.ts';

const CONSENT = ['context.consent.canonical.advertising', 'context.consent.canonical.marketing'];
const when = source.HAS_ADDRESS;
const no = (...fields: string[]) => ({ all: fields.map((field) => ({ field, op: 'not_exists' })) });

/** Data Manager API: an event of `events:ingest`. */
const DATA_MANAGER: JsonObject = {
  mappings: [
    from('timestamp', 'eventTimestamp'),
    from([...source.ORDER_ID, 'event_id'], 'transactionId', ['to_string']),
    set('eventSource', 'WEB'),
    from('context.click_ids.gclid', 'adIdentifiers.gclid'),
    from('context.click_ids.gbraid', 'adIdentifiers.gbraid'),
    from('context.click_ids.wbraid', 'adIdentifiers.wbraid'),
    from(source.EMAIL, 'userData.userIdentifiers[0].emailAddress', ['normalize_gmail', 'sha256']),
    from(source.PHONE, 'userData.userIdentifiers[1].phoneNumber', ['normalize_phone', 'sha256']),
    from(source.FIRST_NAME, 'userData.userIdentifiers[2].address.givenName', ['trim', 'lowercase', 'sha256'], { when }),
    from(source.LAST_NAME, 'userData.userIdentifiers[2].address.familyName', ['trim', 'lowercase', 'sha256'], { when }),
    from(source.COUNTRY, 'userData.userIdentifiers[2].address.regionCode', ['country_code', 'uppercase'], { when }),
    from(source.POSTAL_CODE, 'userData.userIdentifiers[2].address.postalCode', ['to_string', 'trim'], { when }),
    from(source.VALUE, 'conversionValue', ['to_number']),
    from('properties.currency', 'currency', ['currency_code']),
    from(CONSENT, 'consent.adUserData', [], { value_map: { true: 'CONSENT_GRANTED', false: 'CONSENT_DENIED' } }),
    from(CONSENT, 'consent.adPersonalization', [], { value_map: { true: 'CONSENT_GRANTED', false: 'CONSENT_DENIED' } }),
  ],
};
const CART = [
  from(product('product_id', 'sku'), 'cartData.items[*].merchantProductId', ['to_string']),
  from(product('quantity'), 'cartData.items[*].quantity', ['to_integer'], { default: 1 }),
  from(product('price'), 'cartData.items[*].unitPrice', ['to_number']),
  from('properties.discount', 'cartData.transactionDiscount', ['to_number'], { when: { field: 'properties.products[0]', op: 'exists' } }),
];

/** Google Ads API: a click conversion. Of the three click ids exactly one may stand. */
const CLICK_CONVERSION: JsonObject = {
  mappings: [
    from('timestamp', 'conversionDateTime', ['google_datetime'], { required: true }),
    from([...source.ORDER_ID, 'event_id'], 'orderId', ['to_string']),
    from('context.click_ids.gclid', 'gclid'),
    from('context.click_ids.gbraid', 'gbraid', [], { when: no('context.click_ids.gclid') }),
    from('context.click_ids.wbraid', 'wbraid', [], { when: no('context.click_ids.gclid', 'context.click_ids.gbraid') }),
    from(source.EMAIL, 'userIdentifiers[0].hashedEmail', [use('normalize_gmail', true), 'sha256']),
    from(source.PHONE, 'userIdentifiers[1].hashedPhoneNumber', ['normalize_phone', 'sha256']),
    from(source.VALUE, 'conversionValue', ['to_number']),
    from('properties.currency', 'currencyCode', ['currency_code']),
    from(CONSENT, 'consent.adUserData', [], { value_map: { true: 'GRANTED', false: 'DENIED' } }),
    from(CONSENT, 'consent.adPersonalization', [], { value_map: { true: 'GRANTED', false: 'DENIED' } }),
  ],
};

const ORDER = event(undefined, CART);
/** Each event needs a conversion action of its own: give its id as the vendor event name, and switch the event on. */
const OFF = event(undefined, [], { enabled: false });

const DEFAULT: JsonObject = {
  version: 2,
  api: 'data_manager',
  global: DATA_MANAGER,
  events: { 'Order Completed': ORDER, 'Lead Generated': OFF, 'Signed Up': OFF },
  defaults: { action: 'drop' },
};
export const RETAIL: JsonObject = {
  ...DEFAULT,
  events: Object.fromEntries(
    COMMERCE_EVENTS.map((name) => [
      name,
      name === 'Order Completed'
        ? ORDER
        : name === 'Checkout Started' || name === 'Cart Viewed' || name === 'Payment Info Entered'
          ? event(undefined, CART, { enabled: false })
          : OFF,
    ]),
  ),
};
export const ADS_API: JsonObject = {
  version: 2,
  api: 'google_ads_api',
  global: CLICK_CONVERSION,
  events: { 'Order Completed': event(undefined, []), 'Lead Generated': OFF, 'Signed Up': OFF },
  defaults: { action: 'drop' },
};
