/**
 * Nextdoor Conversions API v2. developer.nextdoor.com/reference/conversions-track, and Nextdoor's extension for Adobe
 * (experienceleague.adobe.com, tags/extensions/server/nextdoor), read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { actionSource } from '../shared/device.ts';
import { flag, idOf, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const app = (os: typeof source.IS_APPLE) => ({ when: { all: [source.IS_APP, os] } });

const variants = blueprints({
  names: adEvents({
    search: 'search',
    view: 'view_content',
    cart: 'add_to_cart',
    wishlist: 'add_to_wishlist',
    checkout: 'initiate_checkout',
    purchase: 'purchase',
    registration: 'sign_up',
    lead: 'lead',
    subscribe: 'subscribe',
  }),
  global: [
    from('event_id', 'event_id'),
    from('timestamp', 'event_time_epoch', ['to_unix_seconds']),
    from('parameters.data_source_id', 'data_source_id'),
    ...actionSource('action_source', { other: 'other', web: 'website', app: 'app' }),
    from(source.PAGE_URL, 'action_source_url', [], { when: source.IS_WEBSITE }),
    set('delivery_optimization', false, { when: source.AD_DENIED }),
    set('test_event', 'true', { when: { field: 'parameters.test_mode', op: 'eq', value: true } }),
    ...userData(
      'customer',
      {
        ...{
          email: 'email',
          phone: 'phone_number',
          first_name: 'first_name',
          last_name: 'last_name',
          gender: 'gender',
          birthday: 'date_of_birth',
        },
        ...{ city: 'city', state: 'state', postal_code: 'zip_code', country: 'country', external_id: 'external_id' },
        ...{ ip: 'client_ip_address', user_agent: 'client_user_agent' },
      },
      { phone: 'e164' },
    ),
    from(source.clickId('ndclid'), 'customer.click_id'),
    from('context.app.namespace', 'app.app_id'),
    from('context.app.version', 'app.app_version', ['to_string']),
    from(TRACKING_ENABLED, 'app.app_tracking_enabled', ['to_boolean'], { default: false, when: source.IS_APP }),
    set('app.platform', 'ios', app(source.IS_APPLE)),
    set('app.platform', 'android', app(source.IS_ANDROID)),
  ],
  lines: adLines({
    products: {
      at: 'custom.product_context',
      names: { id: 'id', name: 'content_name', price: 'item_price', quantity: 'quantity' },
      style: { default_quantity: true },
    },
    // One text: currency and amount, such as USD99.99.
    value: 'custom.order_value',
    value_steps: [use('currency_amount', { source: 'properties.currency' })],
    value_required: true,
    order_id: 'custom.order_id',
  }),
  others: { '@page': event('page_view', [from(source.OWN_PAGE_URL, 'action_source_url', [], { when: source.IS_WEBSITE })]) },
});

export default defineVendor({
  key: 'nextdoor',
  name: 'Nextdoor Conversions API',
  description: 'Web and app events into a Nextdoor pixel, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://developer.nextdoor.com/reference/conversions-track',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'In Nextdoor Ads Manager open Events Manager and copy the pixel ID (data source ID).',
    'Generate an API token under Conversions API.',
    'Verify the domain of your website: Nextdoor checks the URL of website events.',
  ],
  see_it: 'Open Events Manager, the pixel, Test events; others show in its activity.',
  test_mode: { field: 'test_mode', value: true, effect: 'Nextdoor treats the events as tests.' },
  notes: [
    'Open: app_tracking_enabled is a boolean in one integration and a text in another. The blueprint sends a boolean.',
    'Open: whether gender and country are hashed in capital letters. The blueprint hashes lower case.',
    'The value of an order is one text of currency and amount, such as USD99.99. Phone numbers are hashed in E.164.',
    'Nextdoor requires app id, app version, platform and the tracking permission of app events; an unknown permission counts as denied.',
    'Nextdoor takes one event per request and deduplicates with the pixel by event_id and event_name.',
    'custom_conversion_1 to custom_conversion_10 can be used as vendor_event_name for further events.',
    'Advertising consent that is denied sets delivery_optimization to false: the event serves attribution only.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'data_source_id',
      'Pixel ID',
      '0a1b2c3d-1111-4222-8333-abcdefabcdef',
      'Ads Manager, Events Manager, your pixel.',
      idOf('the id of a pixel'),
    ),
    secret('access_token', 'API token', 'nd_exampletoken0123456789', 'Ads Manager, Events Manager, Conversions API.'),
    flag('test_mode', 'Test mode', 'Marks every event as a test event.'),
  ],
  request: {
    method: 'POST',
    url: 'https://ads.nextdoor.com/v2/api/conversions/track',
    auth: { kind: 'bearer', token: '{{parameters.access_token}}' },
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'event_name' },
  compact: [{ path: 'custom.product_context', needs: ['id'] }],
  require_one_of: [['customer.email', 'customer.phone_number', 'customer.click_id']],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
