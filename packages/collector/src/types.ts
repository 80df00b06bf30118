/** Shapes that the builder and the browser share. Tuples, because every byte of them is shipped. */

/**
 * A consent category, made ready at build time: lists of the raw names (lower case) that mean it. The first list of which a
 * name is known decides; `true` at the end: Global Privacy Control denies it. Null: no consent needed.
 */
export type Category = [names: string[][], gpc_denies: boolean] | null;

/** Cookies of one vendor: name in `context.vendor_ids`, pattern of the cookie's name, and of the part of its value. */
export type VendorIds = [category: Category, cookies: [id: string, cookie: string, value?: string][]];

/** `source` is the first letter of its name; paths into objects come as their steps; `target` is the path split, already in the names of the wire. */
export type Variable =
  | [source: 'd' | 'j', path: string[], target: string[]]
  | [source: 'c' | 'q' | 'm' | 's', path: string, target: string[]];

export type Categories = Record<string, unknown> | string[];

export interface WireEvent {
  type: 'track' | 'page' | 'identify' | 'group';
  messageId: string;
  timestamp: string | Date;
  anonymousId: string;
  /** JSON leaves an unknown user out. */
  userId?: string | undefined;
  context: Record<string, unknown>;
  [field: string]: unknown;
}

/** One integration that the browser sends to itself. */
export interface ClientSide {
  category: Category;
  /** Event names, `@page` and the like; null: all. */
  names: string[] | null;
  config: Record<string, unknown>;
  definition: Record<string, unknown>;
}
