/** Reddit Conversions API v3. Fields from ads-api.reddit.com/docs/v3 (copied in Segment's repository), read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { unitValue } from '../shared/commerce.ts';
import { actionSource, advertisingId } from '../shared/device.ts';
import { flag, idOf, optionalText, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const LDU = { when: { field: 'parameters.limited_data_use', op: 'eq', value: true } };
const PRODUCTS = {
  at: 'metadata.products',
  names: { id: 'id', name: 'name', category: 'category', price: 'item_price', quantity: 'quantity' },
  style: { default_quantity: true },
};
const paid = adLines({
  products: PRODUCTS,
  count: 'metadata.item_count',
  value: 'metadata.value',
  currency: 'metadata.currency',
});
/** Reddit rejects a value or an item count with views and searches. */
const free = adLines({ products: PRODUCTS });
/** What the additions have and the views have not. */
const ADDED = [
  ...unitValue('metadata.value'),
  from('properties.currency', 'metadata.currency', ['currency_code']),
  from('properties.quantity', 'metadata.item_count', ['to_integer'], { default: 1 }),
];
/** Events without a name at Reddit are custom events under their own name. */
const CUSTOM = [from('event', 'type.custom_event_name', [use('truncate', 64)])];

const variants = blueprints({
  names: adEvents({
    search: 'SEARCH',
    list: 'VIEW_CONTENT',
    view: 'VIEW_CONTENT',
    cart: 'ADD_TO_CART',
    wishlist: 'ADD_TO_WISHLIST',
    purchase: 'PURCHASE',
    registration: 'SIGN_UP',
    lead: 'LEAD',
    checkout: 'CUSTOM',
    payment: 'CUSTOM',
    trial: 'CUSTOM',
    subscribe: 'CUSTOM',
  }),
  global: [
    from('timestamp', 'event_at', ['to_unix_millis']),
    ...actionSource('action_source', { other: 'OTHER', web: 'WEBSITE', app: 'APP' }),
    from(source.PAGE_URL, 'event_source_url', [], { when: source.IS_WEBSITE }),
    from(source.clickId('rdt_cid', 'rdt_cid'), 'click_id'),
    from('event_id', 'metadata.conversion_id'),
    ...userData(
      'user',
      { email: 'email', phone: 'phone_number', external_id: 'external_id', ip: 'ip_address', user_agent: 'user_agent' },
      { phone: 'e164', email: 'canonical' },
    ),
    from('context.vendor_ids.rdt_uuid', 'user.uuid'),
    advertisingId('user.idfa', ['uppercase', 'sha256'], source.IS_APPLE),
    advertisingId('user.aaid', ['lowercase', 'sha256'], source.IS_ANDROID),
    from('context.screen.width', 'user.screen_dimensions.width', ['to_integer']),
    from('context.screen.height', 'user.screen_dimensions.height', ['to_integer']),
    set('user.data_processing_options.modes', ['LDU'], LDU),
    from(source.COUNTRY, 'user.data_processing_options.country', ['country_code', 'uppercase'], LDU),
  ],
  lines: { ...paid, search: free.search, list: free.list, product: free.product, trip_search: [], trip_offer: free.product },
  extra: {
    'Product Added': ADDED,
    'Wishlist Product Added to Cart': ADDED,
    'Product Added to Wishlist': ADDED,
    'Offer Selected': ADDED,
    'Offer Saved': ADDED,
    'Checkout Started': CUSTOM,
    'Booking Started': CUSTOM,
    'Payment Info Entered': CUSTOM,
    'Trial Started': CUSTOM,
    'Subscription Started': CUSTOM,
  },
  others: { '@page': event('PAGE_VISIT', [from(source.OWN_PAGE_URL, 'event_source_url', [], { when: source.IS_WEBSITE })]) },
});

export default defineVendor({
  key: 'reddit',
  name: 'Reddit Conversions API',
  description: 'Web and app events into a Reddit pixel, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://ads-api.reddit.com/docs/v3/',
  api_version: { version: 'v3', checked: '2026-11-16' },
  setup_steps: [
    'In Reddit Ads Manager open Events Manager and copy the pixel ID.',
    'Under Conversions API generate a conversion access token.',
  ],
  see_it: 'Open Events Manager, Event Testing, for events with a test ID; others show in the overview within the hour.',
  test_mode: { field: 'test_id', effect: 'Events with the ID of the page Event Testing show there.' },
  notes: [
    'Reddit accepts events up to 7 days old and deduplicates those of the last 2 days by conversion_id.',
    'E-mail, phone, external and advertising ids are hashed. IP address and user agent are not, unlike in version 2.',
    'Product views and searches carry no value: Reddit rejects it there.',
    'Event Testing shows single events only.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'pixel_id',
      'Pixel ID',
      'a2_abcdefghijkl',
      'Ads Manager, Events Manager, your pixel.',
      idOf('the id of a Reddit pixel, such as a2_abc'),
    ),
    secret(
      'conversion_token',
      'Conversion access token',
      'eyJexampletoken0123456789',
      'Events Manager, Conversions API, Generate access token.',
    ),
    optionalText('test_id', 'Test ID', 't2_abcdef', 'Events Manager, Event Testing. Leave empty in production.'),
    flag('limited_data_use', 'Limited Data Use', 'Sends the data processing mode LDU with every event.'),
  ],
  request: {
    method: 'POST',
    url: 'https://ads-api.reddit.com/api/v3/pixels/{{parameters.pixel_id}}/conversion_events',
    auth: { kind: 'bearer', token: '{{parameters.conversion_token}}' },
    body: { kind: 'json_list', under: 'data.events', common: { test_id: '{{parameters.test_id}}' } },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 1_000 },
    answers: oneBadFailsAll('body.error'),
  },
  event_name: { target: 'type.tracking_type' },
  compact: [{ path: 'metadata.products', needs: ['id'] }],
  together: [
    ['metadata.value', 'metadata.currency'],
    ['user.screen_dimensions.width', 'user.screen_dimensions.height', 'user.screen_dimensions'],
  ],
  require_one_of: [
    ['click_id', 'user.email', 'user.phone_number', 'user.external_id', 'user.uuid', 'user.idfa', 'user.aaid', 'user.ip_address'],
  ],
  max_event_age_hours: 168,
  default_action: 'drop',
  rate: { rps: 80, burst: 160 },
  variants,
});
