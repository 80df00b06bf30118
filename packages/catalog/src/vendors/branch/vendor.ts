/**
 * Branch Events API v2. help.branch.io/apidocs/logstandardevents and /logcustomevents, and the names of content items from
 * BranchMetrics/android-branch-deep-linking-attribution, Defines.java, read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { APP_CALLS_ONLY, adEvents, orOwnName, UPPER_CASE_NAMES } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderCosts } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { deviceIds, EEA_FIELD, eeaConsent } from '../shared/device.ts';
import { secret } from '../shared/fields.ts';
import { event, from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const STANDARD = adEvents({
  search: 'SEARCH',
  list: 'VIEW_ITEMS',
  view: 'VIEW_ITEM',
  video: 'INITIATE_STREAM',
  cart: 'ADD_TO_CART',
  view_cart: 'VIEW_CART',
  checkout: 'INITIATE_PURCHASE',
  payment: 'ADD_PAYMENT_INFO',
  registration: 'COMPLETE_REGISTRATION',
  ...UPPER_CASE_NAMES,
});
/** Branch's spelling of desktop systems: help.branch.io/apidocs/logstandardevents. */
const OS = { macOS: 'MAC_OS', 'Mac OS X': 'MAC_OS', 'Mac OS': 'MAC_OS', Windows: 'WINDOWS', Linux: 'LINUX', Ubuntu: 'LINUX' };
const data = into('event_data');
const user = into('user_data');
const ORDER = [
  ...orderCosts('event_data'),
  data('properties.coupon', 'coupon', ['to_string']),
  data('properties.affiliation', 'affiliation', ['to_string']),
];
const lines = adLines({
  products: {
    at: 'content_items',
    names: {
      ...{
        id: '$sku',
        name: '$product_name',
        brand: '$product_brand',
        variant: '$product_variant',
        price: '$price',
        quantity: '$quantity',
      },
      ...{ url: '$canonical_url', image: '$og_image_url' },
    },
    style: { default_quantity: true },
  },
  value: 'event_data.revenue',
  currency: 'event_data.currency',
  order_id: 'event_data.transaction_id',
  query: 'event_data.search_query',
});

const variants = blueprints({
  names: orOwnName({ ...STANDARD, 'Video Content Completed': 'COMPLETE_STREAM' }),
  global: [
    from('event', 'customer_event_alias'),
    from('event_id', 'custom_data.event_id'),
    from('properties', 'custom_data', [use('omit', 'products', 'email', 'phone', 'first_name', 'last_name', 'address'), 'string_values']),
    from('event_id', 'custom_data.event_id'),
    user('context.os.name', 'os', [], { value_map: OS }),
    set('user_data.os', 'Android', { when: source.IS_ANDROID }),
    set('user_data.os', 'iOS', { when: source.IS_APPLE }),
    user('context.os.version', 'os_version', ['to_string']),
    user('user_id', 'developer_identity'),
    ...deviceIds({ idfa: 'user_data.idfa', idfv: 'user_data.idfv', aaid: 'user_data.aaid', android_id: 'user_data.android_id' }),
    user(TRACKING_ENABLED, 'limit_ad_tracking', ['to_boolean'], { value_map: { true: false, false: true } }),
    // Branch requires the three together.
    ...eeaConsent({
      applies: 'user_data.dma_eea',
      user_data: 'user_data.dma_ad_user_data',
      personalization: 'user_data.dma_ad_personalization',
    }),
    ...contextLines('user_data', { ip: 'ip', user_agent: 'user_agent', app_version: 'app_version', manufacturer: 'brand', model: 'model' }),
    ...contextLines('user_data', { screen_width: 'screen_width', screen_height: 'screen_height' }),
    user('context.locale', 'language', ['lowercase', use('truncate', 2)]),
    set('user_data.environment', 'FULL_APP', { when: source.IS_APP }),
  ],
  lines: { ...lines, purchase: [...lines.purchase, ...ORDER], booking: [...lines.booking, ...ORDER] },
  others: { ...APP_CALLS_ONLY, '@screen': event('VIEW_SCREEN', [from('name', 'customer_event_alias')]) },
  defaults: { action: 'map' },
});

const send = (kind: 'standard' | 'custom'): RequestDefinition => ({
  name: kind,
  method: 'POST',
  url: `https://api2.branch.io/v2/event/${kind}`,
  body: { kind: 'json' },
  fill: { branch_key: '{{parameters.branch_key}}' },
  answers: [RETRY_TIMEOUT],
});
const NAMES = [
  ...new Set(Object.values(STANDARD)),
  'COMPLETE_STREAM',
  'CLICK_AD',
  'VIEW_AD',
  'SPEND_CREDITS',
  'ACHIEVE_LEVEL',
  'UNLOCK_ACHIEVEMENT',
];

export default defineVendor({
  key: 'branch',
  name: 'Branch',
  description: 'Commerce, content and lifecycle events into Branch, for mobile attribution.',
  category: 'attribution',
  group: 'attribution',
  status: 'ga',
  website: 'https://help.branch.io/apidocs/events',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'In the Branch dashboard open Configuration, Security & Access, Credentials, and copy the Branch key.',
    'Use the key of the test environment (key_test_…) for a first event, then the live key.',
  ],
  see_it: 'Open Liveview, Events (or Liveview of the test environment).',
  notes: [
    'An event needs the user ID (developer_identity) or the id of a device. The IP address of the device is sent as user_data.ip.',
    'Branch asks for consent signals (dma_eea) of users in the EEA: switch on the setting for such an app.',
    'Branch takes events in real time only and does not backfill: retried events count when they arrive.',
    'Events outside of Branch’s standard list are custom events under their own name.',
    'One public integration sends ADD_PAYMENT_INFO for a completed order; Branch’s list has PURCHASE.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    secret('branch_key', 'Branch key', 'key_live_hcnegAumkH7Kv18M8AOHhfgiohpXq5tB', 'Configuration, Security & Access, Credentials.'),
    EEA_FIELD,
  ],
  requests: [{ ...send('standard'), when: { field: 'payload.name', op: 'in', value: NAMES } }, send('custom')],
  event_name: { target: 'name', max_length: 40 },
  compact: [{ path: 'content_items', needs: ['$sku'] }],
  require_one_of: [['user_data.developer_identity', 'user_data.idfa', 'user_data.idfv', 'user_data.aaid', 'user_data.android_id']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
