/** Short ways to write the lines of a mapping. What they make is plain data. */
import type { Json, JsonObject } from '@firsthand/core/json.ts';
import { VALUE } from './sources.ts';

export type Transform = string | { name: string; args: Json[] };
type Rest = { default?: Json; required?: boolean; when?: Json; value_map?: JsonObject };

/** `source → target`, through transforms. */
export function from(source: string | string[], target: string, transforms: Transform[] = [], rest: Rest = {}): JsonObject {
  return { source, target, ...(transforms.length > 0 ? { transforms: transforms as Json[] } : {}), ...rest } as JsonObject;
}

/** The same, for targets that all stand under one object. */
export function into(object: string) {
  return (source: string | string[], name: string, transforms: Transform[] = [], rest: Rest = {}): JsonObject =>
    from(source, `${object}.${name}`, transforms, rest);
}

export function set(target: string, value: Json): JsonObject {
  return { value, target };
}

/** One event of a blueprint. */
export function event(vendor_event_name: string | undefined, mappings: JsonObject[], rest: JsonObject = {}): JsonObject {
  return { ...(vendor_event_name === undefined ? {} : { vendor_event_name }), ...rest, mappings };
}

/** What an order is worth, and in which currency; required where a vendor refuses it without. */
export function orderValue(object: string, rest: Rest = {}): JsonObject[] {
  const put = into(object);
  return [put(VALUE, 'value', ['to_number'], rest), put('properties.currency', 'currency', ['currency_code'], rest)];
}

/** What one product is worth: the event's own value, else price times quantity, else the price. Of several lines the last with a value counts. */
export function unitValue(target: string): JsonObject[] {
  return [
    from('properties.price', target, ['to_number']),
    from('properties.price', target, [use('multiply', { source: 'properties.quantity' })]),
    from('properties.value', target, ['to_number']),
  ];
}

export const use = (name: string, ...args: Json[]): Transform => ({ name, args });
