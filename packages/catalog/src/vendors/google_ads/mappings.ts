import type { JsonObject } from '@firsthand/core/json.ts';
import { orderTotal } from '../shared/commerce.ts';
import { CART_LINES, INGEST_LINES } from '../shared/data-manager.ts';
import { adConsent } from '../shared/device.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { COMMERCE_EVENTS, MEDIA_EVENTS, SAAS_EVENTS, STANDARD_EVENTS, TRAVEL_EVENTS } from '../shared/standard-events.ts';
import { PHONE_COUNTRY } from '../shared/user-data.ts';

const HAS_PRODUCTS = { field: 'properties.products[0]', op: 'exists' };
const PHONE = use('normalize_phone', PHONE_COUNTRY);
const no = (...fields: string[]) => ({ all: fields.map((field) => ({ field, op: 'not_exists' })) });

/** Google refuses user identifiers beside gbraid or wbraid: VALUE_MUST_BE_UNSET. */
const WITH_IDENTIFIERS = {
  when: {
    any: [{ field: 'context.click_ids.gclid', op: 'exists' }, no('context.click_ids.gbraid', 'context.click_ids.wbraid')],
  },
};
/** Google Ads API: a click conversion, with exactly one of the three click ids. */
const CLICK_CONVERSION: JsonObject = {
  mappings: [
    from('timestamp', 'conversionDateTime', ['google_datetime']),
    from([...source.ORDER_ID, 'event_id'], 'orderId', ['to_string']),
    from('context.click_ids.gclid', 'gclid'),
    from('context.click_ids.gbraid', 'gbraid', [], { when: no('context.click_ids.gclid') }),
    from('context.click_ids.wbraid', 'wbraid', [], { when: no('context.click_ids.gclid', 'context.click_ids.gbraid') }),
    from(source.EMAIL, 'userIdentifiers[0].hashedEmail', ['normalize_gmail', 'sha256'], WITH_IDENTIFIERS),
    from(source.PHONE, 'userIdentifiers[1].hashedPhoneNumber', [PHONE, 'sha256'], WITH_IDENTIFIERS),
    ...orderTotal('conversionValue'),
    from('properties.currency', 'currencyCode', ['currency_code']),
    ...adConsent(['consent.adUserData', 'consent.adPersonalization'], ['GRANTED', 'DENIED']),
  ],
};

const PURCHASE_LINES = [
  from(product('product_id', 'sku'), 'cartData.items[*].productId', ['to_string']),
  from(product('quantity'), 'cartData.items[*].quantity', ['to_integer'], { default: 1 }),
  from(product('price'), 'cartData.items[*].unitPrice', ['to_number']),
  from('parameters.merchant_id', 'cartData.merchantId', [], { when: HAS_PRODUCTS }),
  from('properties.discount', 'cartData.localTransactionCost', ['to_number'], { when: HAS_PRODUCTS }),
];
const adjusted = (name: string) => `adjustment.${name}`;
/** A refund: the conversion is retracted, or restated if the event names the value that remains. Google takes user identifiers in enhancements only. */
const ADJUSTMENT = event(undefined, [
  set(adjusted('adjustmentType'), 'RETRACTION'),
  set(adjusted('adjustmentType'), 'RESTATEMENT', { when: { field: 'properties.adjusted_value', op: 'exists' } }),
  from('properties.adjusted_value', adjusted('restatementValue.adjustedValue'), ['to_number']),
  from('properties.currency', adjusted('restatementValue.currencyCode'), ['currency_code'], {
    when: { field: 'properties.adjusted_value', op: 'exists' },
  }),
  from('timestamp', adjusted('adjustmentDateTime'), ['google_datetime']),
  from(source.ORDER_ID, adjusted('orderId'), ['to_string'], { required: true }),
]);

const ORDER = event(undefined, CART_LINES);
/** Disabled until the table of conversion actions names the event. */
const OFF = event(undefined, [], { enabled: false });

const DEFAULT: JsonObject = {
  version: 2,
  api: 'data_manager',
  global: { mappings: INGEST_LINES },
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
          ? event(undefined, CART_LINES, { enabled: false })
          : OFF,
    ]),
  ),
};
/** Every standard event of a vertical; bookings are orders. The others wait for a conversion action. */
const verticalOf = (events: Readonly<Record<string, string>>): JsonObject => ({
  ...DEFAULT,
  events: Object.fromEntries(Object.entries(events).map(([name, kind]) => [name, kind === 'booking' ? ORDER : OFF])),
});
export const TRAVEL = verticalOf(TRAVEL_EVENTS);
export const MEDIA = verticalOf(MEDIA_EVENTS);
export const SAAS = verticalOf(SAAS_EVENTS);
/** All of them. */
export const ALL: JsonObject = {
  ...DEFAULT,
  events: { ...(verticalOf(STANDARD_EVENTS).events as JsonObject), ...(RETAIL.events as JsonObject) },
};
export const ADS_API: JsonObject = {
  version: 2,
  api: 'google_ads_api',
  global: CLICK_CONVERSION,
  events: { 'Order Completed': event(undefined, PURCHASE_LINES), 'Order Refunded': ADJUSTMENT, 'Lead Generated': OFF, 'Signed Up': OFF },
  defaults: { action: 'drop' },
};
