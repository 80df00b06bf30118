/** https://docs.snowplow.io/docs/fundamentals/ and snowplow/iglu-central: payload_data 1-0-4, atomic, the ecommerce schemas. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { itemCount, orderTotal, WITHOUT_SIGN } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { text } from '../shared/fields.ts';
import { DISABLED, event, from, set, use } from '../shared/mapping.ts';
import { template } from '../shared/messages.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';

const SNOWPLOW = 'iglu:com.snowplowanalytics.snowplow';
const ecommerce = (name: string, version = '1-0-0') => `${SNOWPLOW}.ecommerce/${name}/jsonschema/${version}`;
/** Enrich accepts only a UUID; any other session id would make the whole event a failed one (snowplow/enrich, Transform.scala). */
const SESSION_IS_UUID = { ...source.EVENT_ID_IS_UUID, field: 'context.session.id' };
const GLOBAL = [
  set('tv', 'firsthand-1'),
  from('parameters.app_id', 'aid'),
  set('p', 'srv'),
  set('p', 'web', { when: { field: 'context.page', op: 'exists' } }),
  set('p', 'mob', { when: source.IS_APP }),
  from('event_id', 'eid', [], { when: source.EVENT_ID_IS_UUID }),
  from('timestamp', 'dtm', ['to_unix_millis']),
  from('timestamp', 'ttm', ['to_unix_millis']),
  from('user_id', 'uid'),
  from('anonymous_id', 'duid'),
  from('context.session.id', 'sid', [], { when: SESSION_IS_UUID }),
  from('context.session.number', 'vid', ['to_integer']),
  ...contextLines('', { ip: 'ip', user_agent: 'ua', url: 'url', title: 'page', referrer: 'refr', locale: 'lang', timezone: 'tz' }),
  template('{{context.screen.width}}x{{context.screen.height}}', 'res', [], { when: { field: 'context.screen.width', op: 'exists' } }),
];
/** Everything without a schema: a structured event. */
const STRUCTURED = [
  set('e', 'se'),
  set('se_ca', 'firsthand'),
  from(['properties.label', 'properties.name', 'properties.title'], 'se_la', ['to_string']),
  from('properties', 'se_pr', ['json_stringify', use('truncate', 1_000)]),
  from(source.VALUE, 'se_va', ['to_number']),
];

const action = (type: string): JsonObject[] => [
  set('e', 'ue'),
  set('ue.schema', `${SNOWPLOW}/unstruct_event/jsonschema/1-0-0`),
  set('ue.data.schema', ecommerce('snowplow_ecommerce_action', '1-0-2')),
  set('ue.data.data.type', type),
  set('co.schema', `${SNOWPLOW}/contexts/jsonschema/1-0-0`),
];
/** The schemas allow no negative amounts: one would fail the validation of the whole event. */
const NOT_NEGATIVE = ['to_string', use('replace', '^-.*')];
const MONEY = [...NOT_NEGATIVE, 'to_number', use('round', 2)];
/** A longer text would fail the validation of the whole event. */
const cut = (max: number) => ['to_string', use('truncate', max)];
/** The first list holds the entity of the order, the second one the products; a transform makes one list of them. */
const ENTITIES = 'co.data';
const entity = (schema: string) => ({
  schema: set(`${ENTITIES}[0][0].schema`, ecommerce(schema)),
  field: (name: string) => `${ENTITIES}[0][0].data.${name}`,
});
const PRODUCT_FIELDS: readonly [
  name: string,
  sources: string[],
  transforms: (string | ReturnType<typeof use>)[],
  fallback?: string | number,
][] = [
  ['id', ['product_id', 'sku'], ['to_string']],
  ['name', ['name', 'product_name'], ['to_string']],
  ['category', ['category', 'product_category'], ['to_string'], 'unknown'],
  ['price', ['price'], MONEY, 0],
  ['quantity', ['quantity'], [...NOT_NEGATIVE, 'to_integer']],
  ['variant', ['variant'], cut(256)],
  ['brand', ['brand'], cut(256)],
  ['position', ['position'], [...NOT_NEGATIVE, 'to_integer']],
];
const products = (at: string, sourcesOf: (names: string[]) => string[]): JsonObject[] => [
  set(`${at}.schema`, ecommerce('product')),
  ...PRODUCT_FIELDS.map(([name, sources, transforms, fallback]) =>
    from(sourcesOf(sources), `${at}.data.${name}`, transforms, fallback === undefined ? {} : { default: fallback }),
  ),
  from('properties.currency', `${at}.data.currency`, ['currency_code'], { required: true }),
];
const LIST = [
  ...products(`${ENTITIES}[1][*]`, (names) => product(...names)),
  from(product('product_id', 'sku'), `${ENTITIES}[1][*].data.id`, ['to_string'], { default: 'unknown' }),
];
const SINGLE = [
  ...products(`${ENTITIES}[1][0]`, (names) => names.map((name) => `properties.${name}`)),
  from(source.productId, `${ENTITIES}[1][0].data.id`, ['to_string'], { required: true }),
];
const { schema: TRANSACTION, field: transaction } = entity('transaction');
const ORDER = [
  ...action('transaction'),
  TRANSACTION,
  from(source.ORDER_ID, transaction('transaction_id'), ['to_string'], { required: true }),
  ...orderTotal(transaction('revenue'), { required: true }, source.VALUE, MONEY),
  from('properties.currency', transaction('currency'), ['currency_code'], { required: true }),
  from('properties.payment_method', transaction('payment_method'), cut(128), { default: 'unknown' }),
  { ...itemCount(transaction('total_quantity'), ['product_id', 'sku', 'name', 'product_name', 'price']), default: 1 },
  from('properties.tax', transaction('tax'), MONEY),
  from('properties.shipping', transaction('shipping'), MONEY),
  from('properties.coupon', transaction('discount_code'), cut(99)),
  from('properties.discount', transaction('discount_amount'), [...WITHOUT_SIGN, use('round', 2)]),
  ...LIST,
];
const { schema: REFUND_SCHEMA, field: refund } = entity('refund');
const REFUND = [
  ...action('refund'),
  REFUND_SCHEMA,
  from(source.ORDER_ID, refund('transaction_id'), ['to_string'], { required: true }),
  ...orderTotal(refund('refund_amount'), { required: true }, source.VALUE, [...WITHOUT_SIGN, use('round', 2)]),
  from('properties.currency', refund('currency'), ['currency_code'], { required: true }),
  from('properties.reason', refund('refund_reason'), ['to_string']),
];
const { schema: STEP, field: step } = entity('checkout_step');
const CHECKOUT = [
  ...action('checkout_step'),
  STEP,
  from('properties.step', step('step'), ['to_integer'], { default: 1 }),
  from('properties.shipping_method', step('delivery_method'), cut(128)),
  from('properties.payment_method', step('payment_method'), cut(128)),
  from('properties.coupon', step('coupon_code'), cut(128)),
];

/** Enrich makes an event with a longer text a failed one (iglu-central, atomic 1-0-0). */
const LENGTHS = { uid: 255, duid: 128, ua: 1_000, page: 2_000, lang: 255, tz: 255, se_la: 4_096 };
const PLAIN_KEYS = [
  ...['e', 'tv', 'p', 'aid', 'eid', 'dtm', 'ttm', 'uid', 'duid', 'sid', 'vid', 'ip', 'ua', 'url', 'page', 'refr', 'lang', 'tz', 'res'],
  ...['se_ca', 'se_ac', 'se_la', 'se_pr', 'se_va', 'co'],
];

export default defineVendor({
  key: 'snowplow',
  name: 'Snowplow',
  description: 'Page views, structured events and e-commerce actions into a Snowplow collector.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://docs.snowplow.io/docs/sources/',
  api_version: { version: 'tp2, payload_data 1-0-4', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'Note the address of your collector (in the Snowplow console: Pipeline, Collector).',
    'Choose an application id, by which you tell these events from others.',
  ],
  see_it: 'Open the console, Pipeline, or query the events table by event_id; bad rows show under Data quality.',
  notes: [
    'The collector answers 200 also for events that fail validation later: look at the failed events.',
    'E-commerce events use the schemas of Snowplow; a missing category, payment method or id of a listed product is sent as unknown.',
    'Other events are structured events. To use your own schema, map the event to ue.',
    'Only an event id that is a UUID is sent as eid, and only a session id that is one as sid.',
  ],
  config_fields: [
    text('collector_url', 'Collector URL', 'https://collector.example.com', 'Without a path and without a slash at the end.', {
      format: 'url',
      pattern: '[^/]$',
      pattern_hint: 'without a slash at the end',
    }),
    text('app_id', 'Application ID', 'shop', 'Your own name for these events, the column app_id.', {
      pattern: '^\\S{1,255}$',
      pattern_hint: 'at most 255 characters without spaces',
    }),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.collector_url}}/com.snowplowanalytics.snowplow/tp2',
    // Every value of the payload is a text, and objects are JSON texts.
    shape: { ...Object.fromEntries(PLAIN_KEYS.map((key) => [key, `{{payload.${key}}}`])), ue_pr: '{{payload.ue}}' },
    body: { kind: 'json_list', under: 'data', common: { schema: `${SNOWPLOW}/payload_data/jsonschema/1-0-4` } },
    batch: { max_items: 100, max_bytes: 39_000, interval_ms: 1_000 },
    answers: [{ status: [413], verdict: 'refused', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'se_ac', only_with: 'se_ca', max_length: 1_000 },
  require_one_of: [['uid', 'duid']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: 'keep',
    global: GLOBAL,
    lines: {
      ...Object.fromEntries(EVENT_KINDS.map((kind) => [kind, STRUCTURED])),
      purchase: ORDER,
      refund: REFUND,
      step: CHECKOUT,
    },
    instead: {
      'Product Viewed': [...action('product_view'), ...SINGLE],
      'Product Clicked': [...action('list_click'), ...SINGLE],
      'Product Added': [...action('add_to_cart'), ...SINGLE],
      'Product Removed': [...action('remove_from_cart'), ...SINGLE],
      'Product List Viewed': [...action('list_view'), from('properties.list_id', 'ue.data.data.name', cut(128)), ...LIST],
      'Checkout Started': CHECKOUT,
    },
    others: {
      '@page': event(undefined, [
        set('e', 'pv'),
        from(source.OWN_PAGE_URL, 'url', [], { required: true }),
        from(source.PAGE_TITLE, 'page'),
      ]),
      '@screen': event('Screen Viewed', [...STRUCTURED, from('name', 'se_la')]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map', mappings: STRUCTURED },
    transforms: [
      { target: ENTITIES, transforms: ['flatten'] },
      ...Object.entries(LENGTHS).map(([target, most]) => ({ target, transforms: [use('truncate', most)] })),
    ],
  }),
});
