/** Types that the builder and the browser share. Tuples, because every byte is shipped. */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';

/**
 * A consent category, compiled at build time to lists of raw names (lower case). The first list with a known name decides.
 * `gpc_denies`: Global Privacy Control denies the category. Null: no consent needed.
 */
export type Category = [names: string[][], gpc_denies: boolean] | null;

/** Cookies of one vendor: name in `context.vendor_ids`, pattern of the cookie name, pattern of the part of the value to use. */
export type VendorIds = [category: Category, cookies: [id: string, cookie: string, value?: string][]];

/** `source` is the first letter of its name. Object paths are split into steps. `target` is split and uses wire names. */
export type Variable =
  | [source: 'd' | 'j', path: string[], target: string[]]
  | [source: 'c' | 'q' | 'm' | 's', path: string, target: string[]];

export type Categories = Record<string, unknown> | string[];

export interface WireEvent {
  type: 'track' | 'page' | 'identify' | 'group';
  messageId: string;
  timestamp: string | Date;
  anonymousId: string;
  /** Undefined, so absent in JSON, if the user is unknown. */
  userId?: string | undefined;
  context: Record<string, unknown>;
  [field: string]: unknown;
}

/** One integration that the browser delivers. */
export interface ClientSide {
  category: Category;
  /** Event keys, such as `@page`. Null: all events. */
  names: string[] | null;
  config: JsonObject;
  definition: VendorDefinition;
}
