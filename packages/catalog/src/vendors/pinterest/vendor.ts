/** Pinterest API v5 for conversions. Fields from Pinterest's OpenAPI description, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT, resultPerEvent } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { actionSource, advertisingId } from '../shared/device.ts';
import { digits, flag, secret, text } from '../shared/fields.ts';
import { event, from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { SHORT_NAMES, userData } from '../shared/user-data.ts';

const data = into('custom_data');

const variants = blueprints({
  names: adEvents({
    search: 'search',
    list: 'view_category',
    view: 'view_content',
    video: 'watch_video',
    cart: 'add_to_cart',
    wishlist: 'add_to_wishlist',
    checkout: 'initiate_checkout',
    payment: 'add_payment_info',
    purchase: 'checkout',
    registration: 'signup',
    lead: 'lead',
    trial: 'start_trial',
    subscribe: 'subscribe',
  }),
  global: [
    from('event_id', 'event_id'),
    from('timestamp', 'event_time', ['to_unix_seconds']),
    ...actionSource('action_source', { other: 'offline', web: 'web', android: 'app_android', ios: 'app_ios' }),
    from(source.PAGE_URL, 'event_source_url'),
    // Of an app: whether the device limits ad tracking, or ads are not personalised.
    from(TRACKING_ENABLED, 'opt_out', ['to_boolean'], { value_map: { true: false, false: true }, when: source.IS_APP }),
    set('opt_out', true, { when: source.AD_DENIED }),
    from('context.locale', 'language', ['lowercase', use('truncate', 2)]),
    ...contextLines('', { app_name: 'app_name', app_version: 'app_version', manufacturer: 'device_brand', model: 'device_model' }),
    ...contextLines('', { device_type: 'device_type' }),
    from('context.network.carrier', 'device_carrier'),
    from('context.network.wifi', 'wifi', ['to_boolean']),
    from('context.os.version', 'os_version', ['to_string'], { when: source.IS_APP }),
    set('custom_data.opt_out_type', 'LDP', { when: { field: 'parameters.limited_data_processing', op: 'eq', value: true } }),
    ...userData(
      'user_data',
      { ...SHORT_NAMES, birthday: 'db', external_id: 'external_id' },
      { phone: 'digits', lists: true, ip_with_user_agent: true },
    ),
    advertisingId('user_data.hashed_maids[0]', ['trim', 'lowercase', 'sha256']),
    from(source.clickId('epik', 'epik'), 'user_data.click_id'),
  ],
  lines: adLines({
    products: {
      at: 'custom_data.contents',
      names: { id: 'id', name: 'item_name', brand: 'item_brand', category: 'item_category', price: 'item_price', quantity: 'quantity' },
      style: { default_quantity: true, price: ['to_string'] },
    },
    ids: 'custom_data.content_ids',
    count: 'custom_data.num_items',
    value: 'custom_data.value',
    value_steps: ['to_string'],
    currency: 'custom_data.currency',
    order_id: 'custom_data.order_id',
    query: 'custom_data.search_string',
    name: 'custom_data.content_name',
    category: 'custom_data.content_category',
  }),
  extra: { 'Product Viewed': [data('properties.brand', 'content_brand', ['to_string'])] },
  others: {
    '@page': event('page_visit', [data('name', 'content_name'), from(source.OWN_PAGE_URL, 'event_source_url')]),
    'Application Installed': event('app_install', []),
    'Application Opened': event('app_open', []),
  },
});

/** Pinterest answers with one entry per event, in order, inside a 200 and (where some failed) a 422. */
const ANSWERS: AnswerRule[] = [
  { status: ['2xx', 400, 422], ...resultPerEvent('body.events', { field: 'status', op: 'eq', value: 'processed' }, 'error_message') },
  { status: [400, 422], verdict: 'refused', reason: 'body.message', isolate: true },
  RETRY_TIMEOUT,
];

const SEND: RequestDefinition = {
  method: 'POST',
  url: 'https://api.pinterest.com/v5/ad_accounts/{{parameters.ad_account_id}}/events',
  auth: { kind: 'bearer', token: '{{parameters.conversion_token}}' },
  body: { kind: 'json_list', under: 'data' },
  batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 1_000 },
  answers: ANSWERS,
};

export default defineVendor({
  key: 'pinterest',
  name: 'Pinterest Conversions API',
  description: 'Web, app and offline events into a Pinterest ad account, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.pinterest.com/docs/api-features/conversion-overview/',
  api_version: { version: 'v5', checked: '2026-11-16' },
  setup_steps: [
    'In Pinterest Ads Manager open Conversions and copy the ad account ID.',
    'Under Conversions, Set up API, generate a conversion access token.',
  ],
  see_it: 'Open Conversions, Event overview. An event in test mode is not recorded: its response says whether it is valid.',
  // Query parameter test of Pinterest's OpenAPI description, events/create
  test_mode: { field: 'test_mode', value: true, effect: 'Pinterest checks the event and records nothing.' },
  notes: [
    'An event needs an e-mail address, a mobile advertising id, or an IP address together with a user agent.',
    'The value should be before tax and shipping, Pinterest recommends. The blueprint sends value, total or revenue; change the line to prefer revenue.',
    'A person who denied advertising, or whose device limits ad tracking, is marked with opt_out if consent does not already block the event.',
    'Pinterest deduplicates with the tag by event_id and event_name.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'ad_account_id',
      'Ad account ID',
      '549755885175',
      'Ads Manager, Business settings, Ad accounts.',
      digits('the digits of an ad account id'),
    ),
    secret(
      'conversion_token',
      'Conversion access token',
      'pina_AEXAMPLETOKEN0123456789',
      'Ads Manager, Conversions, Set up API, Generate new token.',
    ),
    flag('limited_data_processing', 'Limited data processing', 'Sends opt_out_type LDP with every event.'),
    flag('test_mode', 'Test mode', 'Adds test=true: Pinterest checks the events and records nothing.'),
  ],
  requests: [{ ...SEND, name: 'test', when: { field: 'parameters.test_mode', op: 'eq', value: true }, query: { test: 'true' } }, SEND],
  event_name: { target: 'event_name', max_length: 60 },
  require_one_of: [['user_data.em', 'user_data.hashed_maids', 'user_data.client_ip_address']],
  compact: [{ path: 'custom_data.contents', needs: ['id'] }],
  default_action: 'drop',
  rate: { rps: 80, burst: 160 },
  variants,
});
