/** https://yandex.com/dev/metrika/en/data-import/measurement-about and /measurement-upload */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { secret, text } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';

/** `ea`, the identifier of the goal, is written where it is empty. */
const GOAL = [set('t', 'event'), set('ea', '')];
const FIELDS: readonly [suffix: string, names: string[], transform: string][] = [
  ['id', ['product_id', 'sku'], 'to_string'],
  ['nm', ['name'], 'to_string'],
  ['pr', ['price'], 'to_number'],
  ['qt', ['quantity'], 'to_integer'],
  ['ca', ['category'], 'to_string'],
  ['br', ['brand'], 'to_string'],
];
/** Products are numbered fields: pr1id, pr1nm, pr2id … */
const product = (number: number, at: string): JsonObject[] =>
  FIELDS.map(([suffix, names, transform]) =>
    from(
      names.map((name) => `${at}.${name}`),
      `pr${number}${suffix}`,
      [transform],
    ),
  );
const MOST_PRODUCTS = 10;
const MANY = Array.from({ length: MOST_PRODUCTS }, (_, index) => product(index + 1, `properties.products[${index}]`)).flat();
const action = (name: string): JsonObject[] => [...GOAL, set('pa', name), ...product(1, 'properties')];

export default defineVendor({
  key: 'yandex_metrica',
  name: 'Yandex Metrica',
  description: 'Page views, goals and orders into Yandex Metrica through the Measurement Protocol.',
  category: 'analytics',
  group: 'analytics',
  status: 'beta',
  website: 'https://yandex.com/dev/metrika/en/data-import/measurement-about',
  api_version: { version: 'Measurement Protocol', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In the settings of the counter open Data security and usage, switch the Measurement Protocol on, and copy the token.',
    'Create a goal of the type JavaScript event for every event that you want to see; its identifier is the name of the event.',
    'Check whether your rules allow data to be sent to Russia, where the service runs.',
  ],
  see_it: 'Open the reports Conversions or Tech, Monitoring: the goal shows within 20 minutes.',
  notes: [
    'Visitors are known by the ClientID of Metrica (cookie _ym_uid), which your page must send as context.vendor_ids.ym_uid; others are dropped.',
    'Metrica accepts events of the last 12 hours. An event joins a visit that a page view has opened.',
    'At most 10 products of an order are sent. Identify and group calls are not sent.',
    'Open: the documentation requires the referrer and the title of a page view, and the coupon of a purchase; they are sent where the event has them.',
    'Open: the price, quantity and category of a product (pr1pr, pr1qt, pr1ca) come from second-hand sources.',
  ],
  config_fields: [
    text('counter_id', 'Counter', '12345678', 'The number of the counter, beside its name.', {
      pattern: '^\\d{5,12}$',
      pattern_hint: 'digits only',
    }),
    secret('token', 'Measurement Protocol token', '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', 'Settings, Counter, Measurement Protocol.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://mc.yandex.ru/collect',
    fill: { tid: '{{parameters.counter_id}}', ms: '{{parameters.token}}' },
    body: { kind: 'form' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'ea', only_with: 'ea' },
  require_one_of: [['cid']],
  max_event_age_hours: 12,
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(['context.vendor_ids.ym_uid', 'context.vendor_ids._ym_uid'], 'cid', ['digits_only']),
      from('timestamp', 'et', ['to_unix_seconds']),
      ...contextLines('', { url: 'dl', referrer: 'dr', title: 'dt' }),
    ],
    lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, GOAL])),
    instead: {
      'Product Viewed': action('detail'),
      'Product Added': action('add'),
      'Product Removed': action('remove'),
      'Order Completed': [
        ...GOAL,
        set('pa', 'purchase'),
        from(source.ORDER_ID, 'ti', ['to_string'], { required: true }),
        ...orderTotal('tr', { required: true }),
        from('properties.coupon', 'tcc', ['to_string']),
        ...MANY,
      ],
    },
    others: {
      '@page': event(undefined, [set('t', 'pageview'), from(source.OWN_PAGE_URL, 'dl', [], { required: true })]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map', mappings: GOAL },
  }),
});
