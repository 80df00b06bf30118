/**
 * OpenAI Ads Conversions API v1. developers.openai.com/ads, and webaroundlabs/openai-ads-toolkit (packages/spec), which describes those
 * pages as of 2026-09-11; read on 2026-11-16. User data was single texts (email_sha256) until June 2026. It is lists now.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { actionSource } from '../shared/device.ts';
import { flag, idOf, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import type { EventKind } from '../shared/standard-events.ts';
import { userData } from '../shared/user-data.ts';

/** One of them, or the click, must be there. */
const USER_IDS = ['obref', 'emails_sha256', 'phone_numbers_sha256', 'external_ids_sha256', 'android_advertising_id', 'ip_address'];
/** Amounts are whole numbers in the smallest unit of the currency. */
const MINOR = use('minor_units', { source: 'properties.currency' });

const lines = adLines({
  products: {
    at: 'data.contents',
    names: { id: 'id', name: 'name', price: 'amount', quantity: 'quantity' },
    style: { default_quantity: true, price: [MINOR] },
  },
  value: 'data.amount',
  value_steps: [MINOR],
  currency: 'data.currency',
});
/** Every event type has one shape of data. */
const SHAPES: Partial<Record<EventKind, string>> = {
  registration: 'customer_action',
  lead: 'customer_action',
  subscription: 'plan_enrollment',
  trial: 'plan_enrollment',
};
const PLAN = from(['properties.plan_id', 'properties.plan'], 'data.plan_id', ['to_string']);
const shaped = Object.fromEntries(
  Object.entries(lines).map(([kind, mapped]): [string, JsonObject[]] => {
    const shape = SHAPES[kind as EventKind] ?? 'contents';
    return [kind, [...mapped, set('data.type', shape), ...(shape === 'plan_enrollment' ? [PLAN] : [])]];
  }),
);

const variants = blueprints({
  names: adEvents({
    list: 'contents_viewed',
    view: 'contents_viewed',
    cart: 'items_added',
    checkout: 'checkout_started',
    purchase: 'order_created',
    registration: 'registration_completed',
    lead: 'lead_created',
    demo: 'appointment_scheduled',
    trial: 'trial_started',
    subscribe: 'subscription_created',
  }),
  global: [
    from('event_id', 'id'),
    from('timestamp', 'timestamp_ms', ['to_unix_millis']),
    ...actionSource('action_source', { other: 'offline', web: 'web', app: 'mobile_app' }),
    from(source.PAGE_URL, 'source_url', [], { when: source.IS_WEBSITE }),
    from(source.clickId('oppref', 'oppref'), 'oppref'),
    set('opt_out', true, { when: source.AD_DENIED }),
    ...userData(
      'user',
      {
        email: 'emails_sha256',
        phone: 'phone_numbers_sha256',
        first_name: 'first_names_sha256',
        last_name: 'last_names_sha256',
        external_id: 'external_ids_sha256',
        ip: 'ip_address',
        user_agent: 'user_agent',
      },
      { phone: 'digits', lists: true },
    ),
    from(source.COUNTRY, 'user.countries[0]', ['country_code', 'uppercase']),
    from(source.CITY, 'user.cities[0]', ['trim', use('truncate', 128)]),
    from(source.STATE, 'user.regions[0]', ['trim', use('truncate', 128)]),
    from(source.POSTAL_CODE, 'user.postal_codes[0]', ['to_string', use('replace', '[^A-Za-z0-9 -]'), 'trim', use('truncate', 32)]),
    // The pixel's id of the browser. The click reference (oppref) is another id.
    from('context.vendor_ids.obref', 'user.obref'),
    // OpenAI refuses one that is no UUID, and with it the whole batch.
    from(source.ADVERTISING_ID, 'user.android_advertising_id', [], { when: { all: [source.IS_ANDROID, source.ADVERTISING_ID_IS_UUID] } }),
  ],
  lines: shaped,
  // A newsletter is no purchase and no content, but a lead.
  extra: { 'Newsletter Subscribed': [set('data.type', 'customer_action')] },
  others: {
    '@page': event('page_viewed', [set('data.type', 'contents'), from(source.OWN_PAGE_URL, 'source_url', [], { when: source.IS_WEBSITE })]),
  },
});

const send = (common: JsonObject): RequestDefinition => ({
  method: 'POST',
  url: 'https://bzr.openai.com/v1/events',
  query: { pid: '{{parameters.pixel_id}}' },
  auth: { kind: 'bearer', token: '{{parameters.api_key}}' },
  body: { kind: 'json_list', under: 'events', common },
  batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 1_000 },
  answers: oneBadFailsAll('body.error'),
});

export default defineVendor({
  key: 'openai_ads',
  name: 'OpenAI Ads',
  description: 'Conversions into an OpenAI Ads pixel, for measurement of ads in ChatGPT.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://developers.openai.com/ads/conversions-api',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In OpenAI Ads Manager open Conversions and copy the pixel ID.',
    'In the same place create a Conversions API key.',
    'Register each event type that you send for the pixel: events of other types are accepted but not counted.',
  ],
  see_it: 'Open Conversions, the pixel, Event activity: the event shows with its validation.',
  // developers.openai.com/ads/conversions-api: validate_only
  test_mode: { field: 'validate_only', value: true, effect: 'OpenAI checks the event and stores nothing.' },
  notes: [
    'Open: the lists of user data (emails_sha256, phone_numbers_sha256 …) and the fields of an item were seen in libraries that describe the documentation, not on its page.',
    'Amounts are sent in the smallest unit of the currency (12999 for 129.99 USD). Without a currency no amount is sent.',
    'OpenAI accepts events up to 7 days old and deduplicates by id and type.',
    'E-mail address, telephone number, names and user ID are sent as SHA-256. Country, city, region and postal code are sent as they are.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('pixel_id', 'Pixel ID', 'px_0123456789abcdef', 'Ads Manager, Conversions.', idOf('the id of an OpenAI Ads pixel')),
    secret('api_key', 'Conversions API key', 'sk-ads-example0123456789', 'Ads Manager, Conversions, Conversions API.'),
    flag('validate_only', 'Validation only', 'OpenAI checks the events and saves nothing.'),
  ],
  requests: [
    { ...send({ validate_only: true }), name: 'validate', when: { field: 'parameters.validate_only', op: 'eq', value: true } },
    send({}),
  ],
  event_name: { target: 'type' },
  compact: [{ path: 'data.contents', needs: ['id'] }],
  require_one_of: [['oppref', ...USER_IDS.map((id) => `user.${id}`)]],
  max_event_age_hours: 168,
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
