/** https://www.algolia.com/doc/rest-api/insights/push-events (specs/insights.yml). */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, unitValue } from '../shared/commerce.ts';
import { secret, select, text } from '../shared/fields.ts';
import { from, set, use } from '../shared/mapping.ts';
import { product } from '../shared/sources.ts';

const QUERY_ID = ['properties.query_id', 'properties.queryID'];
const TOKEN = [use('replace', '[^A-Za-z0-9_=/+-]', '-'), use('truncate', 129)];
/** A query id has 32 hex characters. Any other value would fail the whole request. */
const AFTER_SEARCH = { any: QUERY_ID.map((field) => ({ field, op: 'matches', value: '^[0-9a-f]{32}$' })) };
const SEARCH = from(QUERY_ID, 'queryID', [], { when: AFTER_SEARCH });
const kind = (type: string, subtype?: string): JsonObject[] => [set('eventType', type), ...(subtype ? [set('eventSubtype', subtype)] : [])];
const ID = ['object_id', 'product_id', 'sku'];
const ONE = [
  from(
    ID.map((name) => `properties.${name}`),
    'objectIDs[0]',
    ['to_string'],
    { required: true },
  ),
];
const MANY = [from(product(...ID), 'objectIDs', ['trim', use('take', 20)], { required: true })];
/** Algolia rejects an event with fewer ids than entries of data: a product without an id is `unknown` beside others that have one. */
const MANY_ALIGNED = [...MANY, from(product(...ID), 'objectIDs[*]', ['trim'], { default: 'unknown' })];
/** One entry for each object, in the same order. The query id of a purchase belongs to its products. */
const ONE_DATA = [
  from('properties.price', 'objectData[0].price', ['to_number']),
  from('properties.quantity', 'objectData[0].quantity', ['to_integer']),
  from('properties.discount', 'objectData[0].discount', ['to_number']),
];
const MANY_DATA = [
  from(product('price'), 'objectData[*].price', ['to_number']),
  from(product('quantity'), 'objectData[*].quantity', ['to_integer'], { default: 1 }),
  from(product('discount'), 'objectData[*].discount', ['to_number']),
  from(QUERY_ID, 'objectData[*].queryID', [], { when: AFTER_SEARCH }),
  from(product('query_id', 'queryID'), 'objectData[*].queryID', ['to_string']),
];
const CURRENCY = from('properties.currency', 'currency', ['currency_code']);

export default defineVendor({
  key: 'algolia_insights',
  name: 'Algolia Insights',
  description: 'Views, clicks and conversions into Algolia, for recommendations and search analytics.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'ga',
  website: 'https://www.algolia.com/doc/rest-api/insights/push-events',
  api_version: { version: '1', checked: '2026-11-16' },
  default_consent_category: 'functional',
  setup_steps: [
    'In Algolia open Settings, API keys, and copy the application ID and the search API key.',
    'Note the name of the index whose records have your product ids as objectID.',
  ],
  see_it: 'Open Data sources, Events, Debugger: the event shows within seconds, with its errors.',
  notes: [
    'The product id (object_id, product_id or sku) must be the objectID of a record in the index.',
    'A query id in properties.query_id connects an event with the search before it; a click then also needs properties.position.',
    'Events are dropped after four days, as Algolia demands. At most 20 products of an order are sent; one without an id is unknown.',
  ],
  config_fields: [
    text('application_id', 'Application ID', 'YOURAPPID0', 'Settings, API keys.', {
      pattern: '^[A-Z0-9]{8,12}$',
      pattern_hint: 'upper-case letters and digits, usually 10',
    }),
    secret('api_key', 'Search API key', '0123456789abcdef0123456789abcdef', 'Settings, API keys, Search API key. Not the admin key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    text('index', 'Index', 'products', 'Search, Index. The name is case-sensitive.'),
    select(
      'region',
      'Region',
      ['insights.algolia.io', 'insights.us.algolia.io', 'insights.de.algolia.io'],
      'Settings, Infrastructure, Analytics region.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/1/events',
    headers: { 'X-Algolia-Application-Id': '{{parameters.application_id}}', 'X-Algolia-API-Key': '{{parameters.api_key}}' },
    body: { kind: 'json_list', under: 'events' },
    batch: { max_items: 1_000, max_bytes: 1_900_000, interval_ms: 1_000 },
    answers: [{ status: [400, 413, 422], verdict: 'refused', reason: 'body.message', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'eventName', max_length: 64 },
  require_one_of: [['userToken']],
  max_event_age_hours: 96,
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints(
    {
      names: {
        'Product Viewed': 'Product Viewed',
        'Product Clicked': 'Product Clicked',
        'Product List Viewed': 'Product List Viewed',
        'Product Added': 'Product Added',
        'Product Added to Wishlist': 'Product Added to Wishlist',
        'Order Completed': 'Order Completed',
      },
      global: [
        from('parameters.index', 'index'),
        from(['anonymous_id', 'user_id'], 'userToken', TOKEN),
        from('user_id', 'authenticatedUserToken', TOKEN),
        from('timestamp', 'timestamp', ['to_unix_millis']),
      ],
      lines: {},
      instead: {
        'Product Viewed': [...kind('view'), ...ONE],
        'Product List Viewed': [...kind('view'), ...MANY],
        'Product Clicked': [
          ...kind('click'),
          SEARCH,
          ...ONE,
          from('properties.position', 'positions[0]', ['to_integer'], { when: AFTER_SEARCH, required: true }),
        ],
        'Product Added': [...kind('conversion', 'addToCart'), SEARCH, ...ONE, ...ONE_DATA, ...unitValue('value'), CURRENCY],
        'Product Added to Wishlist': [...kind('conversion'), SEARCH, ...ONE],
        'Order Completed': [...kind('conversion', 'purchase'), ...MANY_ALIGNED, ...MANY_DATA, ...orderTotal('value'), CURRENCY],
      },
      transforms: ['objectIDs', 'objectData'].map((target) => ({ target, transforms: [use('take', 20)] })),
    },
    ['retail'],
  ),
});
