/** Branch Events API v2. help.branch.io/apidocs/events, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { APP_CALLS_ONLY, adEvents, orOwnName } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { flag, secret } from '../shared/fields.ts';
import { event, from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const STANDARD = adEvents({
  search: 'SEARCH',
  list: 'VIEW_ITEMS',
  view: 'VIEW_ITEM',
  video: 'INITIATE_STREAM',
  cart: 'ADD_TO_CART',
  view_cart: 'VIEW_CART',
  wishlist: 'ADD_TO_WISHLIST',
  checkout: 'INITIATE_PURCHASE',
  payment: 'ADD_PAYMENT_INFO',
  purchase: 'PURCHASE',
  registration: 'COMPLETE_REGISTRATION',
  login: 'LOGIN',
  trial: 'START_TRIAL',
  subscribe: 'SUBSCRIBE',
  share: 'SHARE',
  review: 'RATE',
  invite: 'INVITE',
  onboarding: 'COMPLETE_TUTORIAL',
});
/** Branch requires the three fields together for people to whom the rules of the EEA apply. Unknown consent is none. */
const EEA = { field: 'parameters.eea', op: 'eq', value: true };
const data = into('event_data');
const user = into('user_data');
const ORDER = [
  data('properties.tax', 'tax', ['to_number']),
  data('properties.shipping', 'shipping', ['to_number']),
  data('properties.coupon', 'coupon'),
  data('properties.affiliation', 'affiliation'),
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
    user('context.os.name', 'os'),
    set('user_data.os', 'Android', { when: source.IS_ANDROID }),
    set('user_data.os', 'iOS', { when: source.IS_APPLE }),
    user('context.os.version', 'os_version', ['to_string']),
    user('user_id', 'developer_identity'),
    user(source.ADVERTISING_ID, 'idfa', [], { when: source.IS_APPLE }),
    user('context.device.id', 'idfv', [], { when: source.IS_APPLE }),
    user(source.ADVERTISING_ID, 'aaid', [], { when: source.IS_ANDROID }),
    user('context.device.id', 'android_id', [], { when: source.IS_ANDROID }),
    user(TRACKING_ENABLED, 'limit_ad_tracking', ['to_boolean'], { value_map: { true: false, false: true } }),
    set('user_data.dma_eea', true, { when: EEA }),
    user(source.AD_CONSENT, 'dma_ad_personalization', ['to_boolean'], { default: false, when: EEA }),
    user(source.AD_CONSENT, 'dma_ad_user_data', ['to_boolean'], { default: false, when: EEA }),
    user('context.ip', 'ip'),
    user('context.user_agent', 'user_agent'),
    user('context.app.version', 'app_version', ['to_string']),
    user('context.device.manufacturer', 'brand'),
    user('context.device.model', 'model'),
    user('context.screen.width', 'screen_width', ['to_integer']),
    user('context.screen.height', 'screen_height', ['to_integer']),
    user('context.locale', 'language', ['lowercase', use('truncate', 2)]),
    set('user_data.environment', 'FULL_APP', { when: source.IS_APP }),
  ],
  lines: { ...lines, purchase: [...lines.purchase, ...ORDER], booking: [...lines.booking, ...ORDER] },
  others: { ...APP_CALLS_ONLY, '@screen': event('VIEW_SCREEN', [from('name', 'customer_event_alias')]) },
  defaults: { action: 'map' },
});

const ANSWERS: AnswerRule[] = [
  { status: [429], verdict: 'unavailable', reason: 'body.error.message' },
  { status: [400, 401, 403, 404, 422], verdict: 'refused', reason: 'body.error.message' },
  RETRY_TIMEOUT,
];
const send = (kind: 'standard' | 'custom'): RequestDefinition => ({
  name: kind,
  method: 'POST',
  url: `https://api2.branch.io/v2/event/${kind}`,
  body: { kind: 'json' },
  fill: { branch_key: '{{parameters.branch_key}}' },
  answers: ANSWERS,
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
  status: 'beta',
  website: 'https://help.branch.io/apidocs/events',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'In the Branch dashboard open Configuration, Security & Access, Credentials, and copy the Branch key.',
    'Use the key of the test environment (key_test_…) for a first event, then the live key.',
  ],
  see_it: 'Open Liveview, Events (or Liveview of the test environment).',
  notes: [
    'Open: the fields of a content item and some of user_data were seen in public integrations.',
    'Branch asks for consent signals (dma_eea) of users in the EEA: switch on the setting for such an app.',
    'Branch takes events in real time only and does not backfill: retried events count when they arrive.',
    'Events outside of Branch’s standard list are custom events under their own name.',
    'One public integration sends ADD_PAYMENT_INFO for a completed order; Branch’s list has PURCHASE.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    secret('branch_key', 'Branch key', 'key_live_hcnegAumkH7Kv18M8AOHhfgiohpXq5tB', 'Configuration, Security & Access, Credentials.'),
    flag(
      'eea',
      'Users in the EEA',
      'Sends the advertising consent of every user (dma_eea). For apps whose users are in the European Economic Area.',
    ),
  ],
  requests: [{ ...send('standard'), when: { field: 'payload.name', op: 'in', value: NAMES } }, send('custom')],
  event_name: { target: 'name', max_length: 40 },
  compact: [{ path: 'content_items', needs: ['$sku'] }],
  require_one_of: [['user_data.developer_identity', 'user_data.idfa', 'user_data.idfv', 'user_data.aaid', 'user_data.android_id']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
