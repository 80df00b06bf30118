/** Short forms for mapping lines. The results are plain data. */
import type { Json, JsonObject } from '@firsthand/core/json.ts';

export type Transform = string | { name: string; args: Json[] };
export type Rest = { default?: Json; required?: boolean; when?: Json; value_map?: JsonObject };

/** `source → target`, through transforms. */
export function from(source: string | string[], target: string, transforms: Transform[] = [], rest: Rest = {}): JsonObject {
  return { source, target, ...(transforms.length > 0 ? { transforms: transforms as Json[] } : {}), ...rest } as JsonObject;
}

/** The same, for targets under one object. */
export function into(object: string) {
  return (source: string | string[], name: string, transforms: Transform[] = [], rest: Rest = {}): JsonObject =>
    from(source, `${object}.${name}`, transforms, rest);
}

export function set(target: string, value: Json, rest: Rest = {}): JsonObject {
  return { value, target, ...rest };
}

/** One event of a blueprint. */
export function event(vendor_event_name: string | undefined, mappings: JsonObject[], rest: JsonObject = {}): JsonObject {
  return { ...(vendor_event_name === undefined ? {} : { vendor_event_name }), ...rest, mappings };
}

export const use = (name: string, ...args: Json[]): Transform => ({ name, args });

/** An event that is not sent, even if other events are mapped by default. */
export const DISABLED: JsonObject = event(undefined, [], { enabled: false });
