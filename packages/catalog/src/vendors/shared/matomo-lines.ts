/** Parameters that Matomo and Piwik PRO, which descends from it, have in common. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { orderTotal } from './commerce.ts';
import { from, set, use } from './mapping.ts';
import { template } from './messages.ts';
import * as source from './sources.ts';
import { product } from './sources.ts';

const IS_VISITOR_ID = { field: 'anonymous_id', op: 'matches', value: '^[0-9a-fA-F]{16}$' };
/** Who and when. A visitor id has 16 hex characters; any other id is hashed. */
export const VISITOR: JsonObject[] = [
  set('rec', 1),
  set('send_image', 0),
  from('anonymous_id', '_id', ['sha256', use('truncate', 16)]),
  from('anonymous_id', '_id', [], { when: IS_VISITOR_ID }),
  from('user_id', 'uid'),
  from('timestamp', 'cdt', [use('format_time', 'yyyy-MM-dd HH:mm:ss')]),
];
export const RESOLUTION = template('{{context.screen.width}}x{{context.screen.height}}', 'res', [], {
  when: { field: 'context.screen.width', op: 'exists' },
});
export const TITLE = from('context.page.title', 'action_name');
export const SEARCH: JsonObject[] = [
  from(['properties.query', 'properties.search_term'], 'search', ['to_string'], { required: true }),
  from(['properties.results', 'properties.result_count'], 'search_count', ['to_integer']),
];
/** Category, name and value of an event; its action is the event's name. */
export const EVENT: JsonObject[] = [
  set('e_c', 'Events'),
  from(['properties.label', 'properties.name', 'properties.title'], 'e_n', ['to_string']),
  from(source.VALUE, 'e_v', ['to_number']),
];
const item = (index: number) => `ec_items[*][${index}]`;
/** Each item is a list: sku, name, category, price, quantity. */
const ITEMS: JsonObject[] = [
  from(product('product_id', 'sku'), item(0), ['to_string'], { default: '' }),
  from(product('name'), item(1), ['to_string'], { default: '' }),
  from(product('category'), item(2), ['to_string'], { default: '' }),
  from(product('price'), item(3), ['to_number'], { default: 0 }),
  from(product('quantity'), item(4), ['to_integer'], { default: 1 }),
];
export const CART: JsonObject[] = [set('idgoal', 0), ...orderTotal('revenue', { required: true }), ...ITEMS];
export const ORDER: JsonObject[] = [
  set('idgoal', 0),
  from(source.ORDER_ID, 'ec_id', ['to_string'], { required: true }),
  ...orderTotal('revenue', { required: true }),
  from(['properties.subtotal', 'properties.sub_total'], 'ec_st', ['to_number']),
  from('properties.tax', 'ec_tx', ['to_number']),
  from('properties.shipping', 'ec_sh', ['to_number']),
  from('properties.discount', 'ec_dt', ['to_number']),
  ...ITEMS,
];
