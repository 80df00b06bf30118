import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { COMMERCE_EVENTS } from '../shared/standard-events.ts';

/** Event names stay the user's own; the event id keeps a repeated delivery from counting twice. */
const GLOBAL: JsonObject = {
  mappings: [
    from('event_id', 'insert_id'),
    from('user_id', 'user_id'),
    from('anonymous_id', 'device_id'),
    from('timestamp', 'time', ['to_unix_millis']),
    from('properties', 'event_properties'),
    from(source.PAGE_URL, 'event_properties.page_url'),
    from(source.REFERRER, 'event_properties.page_referrer'),
    from('context.page.title', 'event_properties.page_title'),
    from('traits', 'user_properties'),
    from('context.campaign.source', 'user_properties.utm_source'),
    from('context.campaign.medium', 'user_properties.utm_medium'),
    from('context.campaign.name', 'user_properties.utm_campaign'),
    from('context.campaign.term', 'user_properties.utm_term'),
    from('context.campaign.content', 'user_properties.utm_content'),
    from('context.click_ids.gclid', 'user_properties.gclid'),
    from('context.click_ids.fbclid', 'user_properties.fbclid'),
    from('context.ip', 'ip'),
    from('context.locale', 'language'),
    from('context.os.name', 'os_name'),
    from('context.os.version', 'os_version'),
    from('context.device.manufacturer', 'device_manufacturer'),
    from('context.device.model', 'device_model'),
    from('context.geo.country', 'country'),
    from('context.geo.region', 'region'),
    from('context.geo.city', 'city'),
    from('context.app.version', 'app_version'),
    set('library', 'firsthand'),
  ],
};
const PAGE = event('Page Viewed', [from('name', 'event_properties.page_name'), from(source.PAGE_TITLE, 'event_properties.page_title')]);
const IDENTIFY = event('$identify', []);
const GROUP = event('$groupidentify', [from('group_id', 'groups.company'), from('traits', 'group_properties'), set('user_properties', {})]);

const ORDER = [
  from(source.VALUE, 'revenue', ['to_number']),
  from('properties.currency', 'currency', ['currency_code']),
  set('revenueType', 'Purchase'),
];
const REFUND = [
  from(source.VALUE, 'revenue', ['to_number', { name: 'multiply', args: [-1] }]),
  from('properties.currency', 'currency', ['currency_code']),
  set('revenueType', 'Refund'),
];
const PRODUCT = [from(source.productId, 'productId', ['to_string'])];
const SINGLE = new Set<string>([
  'Product Clicked',
  'Product Viewed',
  'Product Added',
  'Product Removed',
  'Product Added to Wishlist',
  'Product Removed from Wishlist',
  'Wishlist Product Added to Cart',
  'Product Shared',
  'Product Reviewed',
]);
const RETAIL: Record<string, JsonObject> = Object.fromEntries(
  COMMERCE_EVENTS.map((name) => [
    name,
    event(name, name === 'Order Completed' ? ORDER : name === 'Order Refunded' ? REFUND : SINGLE.has(name) ? PRODUCT : []),
  ]),
);

const blueprint = (events: Record<string, JsonObject>): JsonObject => ({
  version: 2,
  global: GLOBAL,
  events: { '@page': PAGE, '@identify': IDENTIFY, '@group': GROUP, ...events },
  defaults: { action: 'map' },
});

const ANSWERS: AnswerRule[] = [
  // The request as a whole was rejected: what is named is at fault, the rest must be sent again without it.
  {
    status: [400],
    verdict: 'partial',
    partial: {
      indexes: [
        'body.events_with_invalid_fields',
        'body.events_with_missing_fields',
        'body.events_with_invalid_id_lengths',
        'body.silenced_events',
      ],
      reason: 'body.error',
      failed: 'refused',
      others: 'unavailable',
    },
  },
  { status: [400], when: { field: 'body.error', op: 'contains', value: 'api_key' }, verdict: 'refused', reason: 'body.error' },
  { status: [400, 413], verdict: 'refused', reason: 'body.error', isolate: true },
  // Too many events for one user or device: Amplitude asks for half a minute of silence.
  { status: [429], verdict: 'unavailable', reason: 'body.error', retry_after: { ms: 30_000 } },
  RETRY_TIMEOUT,
];

const upload = (host: string): Omit<RequestDefinition, 'when'> => ({
  method: 'POST',
  url: `https://${host}/2/httpapi`,
  body: { kind: 'json_list', under: 'events', common: { api_key: '{{parameters.api_key}}', options: { min_id_length: 1 } } },
  batch: { max_items: 1_000, max_bytes: 900_000, interval_ms: 1_000 },
  answers: ANSWERS,
});

export default defineVendor({
  key: 'amplitude',
  name: 'Amplitude',
  description: 'Events, user properties and groups into Amplitude Analytics through the HTTP V2 API.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://amplitude.com/docs/apis/analytics/http-v2',
  setup_steps: [
    "In Amplitude open Settings, Organization settings, Projects, and copy the project's API key.",
    'Choose the data region of the project.',
  ],
  default_consent_category: 'analytics',
  config_fields: [
    {
      key: 'api_key',
      label: 'API key',
      type: 'secret',
      required: true,
      placeholder: '0123456789abcdef0123456789abcdef',
      help_text: 'Settings, Organization settings, Projects.',
    },
    {
      key: 'data_region',
      label: 'Data region',
      type: 'select',
      required: false,
      placeholder: 'us',
      help_text: 'Where the project lives.',
      options: ['us', 'eu'],
      default: 'us',
    },
  ],
  requests: [
    { ...upload('api.eu.amplitude.com'), when: { field: 'parameters.data_region', op: 'eq', value: 'eu' } },
    upload('api2.amplitude.com'),
  ],
  event_name: { target: 'event_type', max_length: 1_024 },
  require_one_of: [['user_id', 'device_id']],
  default_action: 'drop',
  rate: { rps: 100, burst: 200 },
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Every event under its own name, identify as user properties, orders with revenue.',
      default_config: blueprint(RETAIL),
    },
    {
      key: 'retail',
      name: 'Retail',
      description: 'The whole e-commerce event set, with product ids and revenue.',
      default_config: blueprint(RETAIL),
    },
  ],
});
