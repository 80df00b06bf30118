/** AppsFlyer server-to-server events, api3. dev.appsflyer.com/hc/reference/s2s-events-api3-post, read on 2026-11-16. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { APP_CALLS_ONLY, adEvents, orOwnName } from '../shared/ad-events.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints, likeRetail } from '../shared/blueprints.ts';
import { itemCount, NEGATIVE, orderTotal } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { deviceIds, EEA_FIELD, eeaConsent } from '../shared/device.ts';
import { optionalText, secret, text } from '../shared/fields.ts';
import { event, from, into, set, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const value = into('eventValue');
const CURRENCY = [
  value('properties.currency', 'af_currency', ['currency_code']),
  from('properties.currency', 'eventCurrency', ['currency_code']),
];
const PRODUCT: JsonObject[] = [
  value(source.productId, 'af_content_id', ['to_string']),
  value(source.productName, 'af_content', ['to_string']),
  value(source.CATEGORY, 'af_content_type', ['to_string']),
  value('properties.quantity', 'af_quantity', ['to_integer']),
  // The price of one: af_quantity says how many.
  value('properties.value', 'af_price', ['to_number']),
  value('properties.price', 'af_price', ['to_number']),
  ...CURRENCY,
];
const PRODUCTS: JsonObject[] = [value(source.productIds, 'af_content_id', ['to_string']), itemCount('eventValue.af_quantity')];
const ORDER: JsonObject[] = [...PRODUCTS, ...orderTotal('eventValue.af_price'), ...CURRENCY];
/** Only af_revenue counts as revenue, so only what was paid has it. */
const paid = (sign: Transform[] = []): JsonObject[] => [
  value(source.ORDER_ID, 'af_order_id', ['to_string']),
  ...PRODUCTS,
  ...orderTotal('eventValue.af_revenue', {}, source.VALUE, sign),
  ...CURRENCY,
];
const PAID = paid();
/** Revenue may be negative: dev.appsflyer.com/hc/docs/inappevents, Logging revenue. */
const REFUND = paid(NEGATIVE);
const SEARCH = [value(['properties.query', 'properties.destination'], 'af_search_string', ['to_string'])];
const CONTENT = [value(source.CONTENT_ID, 'af_content_id', ['to_string']), value(source.CONTENT_NAME, 'af_content', ['to_string'])];

const variants = blueprints({
  names: orOwnName(
    adEvents({
      search: 'af_search',
      list: 'af_list_view',
      view: 'af_content_view',
      cart: 'af_add_to_cart',
      remove: 'remove_from_cart',
      wishlist: 'af_add_to_wishlist',
      checkout: 'af_initiated_checkout',
      payment: 'af_add_payment_info',
      purchase: 'af_purchase',
      registration: 'af_complete_registration',
      login: 'af_login',
      trial: 'af_start_trial',
      subscribe: 'af_subscribe',
      share: 'af_share',
      review: 'af_rate',
      invite: 'af_invite',
      onboarding: 'af_tutorial_completion',
    }),
  ),
  global: [
    from('parameters.app_id', 'app_id'),
    from('parameters.ios_app_id', 'app_id', [], { when: { all: [source.IS_APPLE, { field: 'parameters.ios_app_id', op: 'exists' }] } }),
    from(source.vendorId('appsflyer_id'), 'appsflyer_id', ['to_string'], { required: true }),
    from('user_id', 'customer_user_id'),
    from('timestamp', 'eventTime', [use('format_time', 'yyyy-MM-dd HH:mm:ss.SSS')]),
    // Mandatory, and empty where there is nothing to say.
    set('eventValue', {}),
    // AppsFlyer passes the consent on to Google.
    ...eeaConsent({
      applies: 'consent_data.manual.gdpr_applies',
      user_data: 'consent_data.manual.ad_user_data_enabled',
      personalization: 'consent_data.manual.ad_personalization_enabled',
    }),
    from('context.ip', 'ip', [], { when: source.IS_IPV4 }),
    ...contextLines('', { app_version: 'app_version_name', app_id: 'bundleIdentifier', os_version: 'os' }),
    ...deviceIds({ idfa: 'idfa', idfv: 'idfv', aaid: 'advertising_id' }, ['uppercase']),
  ],
  lines: likeRetail({
    search: [...SEARCH, ...PRODUCTS],
    list: PRODUCTS,
    product: PRODUCT,
    products: PRODUCTS,
    cart: ORDER,
    order: ORDER,
    purchase: PAID,
    refund: REFUND,
    registration: [value('properties.method', 'af_registration_method', ['to_string'])],
    content: CONTENT,
    subscription: PAID,
    trial: ORDER,
  }),
  others: { ...APP_CALLS_ONLY, '@screen': event('screen_view', [value('name', 'screen_name')]) },
  defaults: { action: 'map' },
});

export default defineVendor({
  key: 'appsflyer',
  name: 'AppsFlyer',
  description: 'In-app events from your server into AppsFlyer, for mobile attribution.',
  category: 'attribution',
  group: 'attribution',
  status: 'ga',
  website: 'https://dev.appsflyer.com/hc/reference/s2s-events-api3-overview',
  api_version: { version: 'api3', checked: '2026-11-16' },
  setup_steps: [
    'In AppsFlyer open App settings and copy the app ID; for iOS it begins with id.',
    'Under the account menu, Security center, API tokens, create a token for server-to-server events.',
    'Send the AppsFlyer ID of the device with every event, as context.vendor_ids.appsflyer_id.',
  ],
  see_it: 'Open the app, Activity, or Raw data export, In-app events: the event shows within the hour.',
  notes: [
    'AppsFlyer takes IPv4 addresses only; an IPv6 address is left out. Apple’s ids are sent in capitals.',
    'An event without an AppsFlyer ID is dropped: AppsFlyer requires it.',
    'AppsFlyer answers 200 for an iOS app ID without its prefix and records nothing; the field checks the prefix.',
    'af_revenue is sent for purchases and subscriptions, and with a minus for refunds. Carts and checkouts have af_price.',
    'Payloads are limited to 1 KB. Events that arrive after 02:00 UTC of the next day count at their arrival.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('app_id', 'App ID', 'com.example.shop', 'App settings: the package name of an Android app, or id and digits of an iOS app.', {
      pattern: '^(id\\d{5,15}|[A-Za-z][\\w-]*(\\.[\\w-]+)+)$',
      pattern_hint: 'a package name, or id followed by digits for iOS',
    }),
    optionalText(
      'ios_app_id',
      'iOS app ID',
      'id123456789',
      'If this integration serves both platforms: id and the digits of the App Store.',
      { pattern: '^id\\d{5,15}$', pattern_hint: 'id followed by digits' },
    ),
    secret('s2s_token', 'S2S token', 'eyJhbGciOiJBMjU2S1ciLCJlbmMi.example', 'Account menu, Security center, AppsFlyer API tokens.'),
    EEA_FIELD,
  ],
  request: {
    method: 'POST',
    url: 'https://api3.appsflyer.com/inappevent/{{lane.app_id}}',
    auth: { kind: 'header', name: 'authentication', value: '{{parameters.s2s_token}}' },
    lane: ['app_id'],
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'eventName', max_length: 100 },
  json_text: ['eventValue'],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
