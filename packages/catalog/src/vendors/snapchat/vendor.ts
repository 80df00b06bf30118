/**
 * Snap Conversions API v3. Fields from developers.snap.com, test events from its page Conversions-API/VerifySetUp, and Snap's own SDK
 * (Snapchat/business-sdk-v3-java), read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { adEvents, UPPER_CASE_NAMES } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { errorInside, oneBadFailsAll } from '../shared/answers.ts';
import { extendedInfo, trackingEnabled } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { actionSource, advertisingId, deviceIds } from '../shared/device.ts';
import { flag, idOf, optionalText, secret, text } from '../shared/fields.ts';
import { event, from, into, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { tripLines } from '../shared/trip.ts';
import { SHORT_NAMES, userData } from '../shared/user-data.ts';

const data = into('custom_data');
const { IS_APP } = source;

const variants = blueprints({
  names: adEvents({
    search: 'SEARCH',
    list: 'LIST_VIEW',
    view: 'VIEW_CONTENT',
    cart: 'ADD_CART',
    checkout: 'START_CHECKOUT',
    payment: 'ADD_BILLING',
    registration: 'SIGN_UP',
    ...UPPER_CASE_NAMES,
  }),
  global: [
    // Web events go to the pixel, app events to the Snap app.
    from('parameters.pixel_id', 'asset_id', [], { when: { not: IS_APP } }),
    from('parameters.app_id', 'asset_id', [], { required: true, when: IS_APP }),
    from('event_id', 'event_id'),
    from('timestamp', 'event_time', ['to_unix_seconds']),
    ...actionSource('action_source', { other: 'OFFLINE', web: 'WEB', app: 'MOBILE_APP' }),
    from(source.PAGE_URL, 'event_source_url'),
    set('data_processing_options', ['LMU'], { when: { field: 'parameters.limited_data_use', op: 'eq', value: true } }),
    ...userData('user_data', { ...SHORT_NAMES, external_id: 'external_id' }, { phone: 'digits', lists: true, ip_with_user_agent: true }),
    from(source.clickId('ScCid'), 'user_data.sc_click_id'),
    from('context.vendor_ids.scid', 'user_data.sc_cookie1'),
    advertisingId('user_data.madid', ['lowercase']),
    ...deviceIds({ idfv: 'user_data.idfv' }),
    ...trackingEnabled('app_data.advertiser_tracking_enabled', IS_APP),
    ...extendedInfo('app_data', IS_APP),
  ],
  lines: adLines({
    products: {
      at: 'custom_data.contents',
      names: { id: 'id', brand: 'brand', price: 'item_price', quantity: 'quantity' },
      style: { default_quantity: true, price: ['to_string'], quantity: ['to_string'] },
    },
    ids: 'custom_data.content_ids',
    count: 'custom_data.num_items',
    value: 'custom_data.value',
    currency: 'custom_data.currency',
    value_required: true,
    order_id: 'custom_data.order_id',
    query: 'custom_data.search_string',
    category: 'custom_data.content_category',
    trip: tripLines('custom_data'),
  }),
  extra: { 'Signed Up': [data('properties.method', 'sign_up_method', ['to_string'])] },
  others: {
    '@page': event('PAGE_VIEW', [from(source.OWN_PAGE_URL, 'event_source_url')]),
    '@screen': event('VIEW_CONTENT', []),
    'Application Installed': event('APP_INSTALL', []),
    'Application Opened': event('APP_OPEN', []),
  },
});

/** One bad event fails the request. */
const ANSWERS: AnswerRule[] = [
  { status: [401, 403], verdict: 'refused', reason: 'body.reason' },
  errorInside({ field: 'body.status', op: 'eq', value: 'INVALID' }, 'body.errors', ['2xx', 400, 422]),
  ...oneBadFailsAll('body.reason'),
];
const send = (path: string): RequestDefinition => ({
  name: path,
  method: 'POST',
  url: `https://tr.snapchat.com/v3/{{lane.asset_id}}/${path}`,
  auth: { kind: 'query', name: 'access_token', value: '{{parameters.access_token}}' },
  lane: ['asset_id'],
  body: { kind: 'json_list', under: 'data' },
  batch: { max_items: 2_000, max_bytes: 2_000_000, interval_ms: 1_000 },
  answers: ANSWERS,
});

export default defineVendor({
  key: 'snapchat',
  name: 'Snapchat Conversions API',
  description: 'Web, app and offline events into a Snap pixel or Snap app, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.snap.com/api/marketing-api/Conversions-API/Introduction',
  api_version: { version: 'v3', checked: '2026-11-16' },
  setup_steps: [
    'In Snapchat Ads Manager open Events Manager and copy the ID of the pixel (and of the Snap app for app events).',
    'Open Business Settings, Conversions API tokens, and generate a token.',
  ],
  see_it: 'Open Events Manager, the pixel, Event testing for events in test mode; others show in its overview within the hour.',
  test_mode: { field: 'test_mode', value: true, effect: 'Snapchat checks the event and records nothing.' },
  notes: [
    'An event needs an e-mail address, a telephone number, a mobile advertising id, or an IP address together with a user agent.',
    'Snap accepts events up to 37 days old; some integrations still assume 7 or 28 days.',
    'The mobile advertising id is sent as madid without a hash, as the documentation says. Snap’s Java SDK calls it mobile_ad_id.',
    'Snap’s CUSTOM_EVENT_1 to CUSTOM_EVENT_5 can be used as vendor_event_name for further events.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'pixel_id',
      'Pixel ID',
      '8f2c1a30-1111-4222-8333-abcdefabcdef',
      'Ads Manager, Events Manager, your pixel.',
      idOf('the id of a Snap pixel'),
    ),
    secret(
      'access_token',
      'Conversions API token',
      'eyJhbGciOiJIUzI1NiJ9.example.token',
      'Business Settings, Business details, Conversions API tokens.',
    ),
    optionalText(
      'app_id',
      'Snap app ID',
      '0a1b2c3d-4444-4555-8666-abcdefabcdef',
      'For app events: Events Manager, your Snap app. Without it app events are dropped.',
      idOf('the id of a Snap app'),
    ),
    flag('limited_data_use', 'Limited data use', 'Marks every event with the data processing option LMU.'),
    flag('test_mode', 'Test mode', 'Sends events to the validate endpoint: Snap checks them and records nothing.'),
  ],
  requests: [{ ...send('events/validate'), when: { field: 'parameters.test_mode', op: 'eq', value: true } }, send('events')],
  event_name: { target: 'event_name' },
  require_one_of: [['user_data.em', 'user_data.ph', 'user_data.madid', 'user_data.client_ip_address']],
  compact: [{ path: 'custom_data.contents', needs: ['id'] }],
  max_event_age_hours: 888,
  default_action: 'drop',
  rate: { rps: 100, burst: 200 },
  variants,
});
