import type { WebhookProvider, WebhookSource, WebhookSourceType } from '../config/resources.ts';

/**
 * Where a value comes from. A text is a path or a quoted literal, as users write them. The other forms are for presets:
 * `number` reads numeric text, `currency` writes the code in capitals, `major_units` divides an amount in the currency's smallest unit
 * (100 cents to 1), and `each` makes one object per element of a list, with paths relative to the element.
 */
export type SourceValue =
  | string
  | { path: string; as: 'number' | 'currency' }
  | { path: string; as: 'major_units'; currency: string }
  | { each: string; fields: Readonly<Record<string, SourceValue>> };
export type SourceMappings = Readonly<Record<string, SourceValue>>;

/** A service that sends webhooks, as data: where its ids, types and times stand, and what becomes of them by default. */
export interface SourceDefinition {
  provider: WebhookProvider;
  source_type: WebhookSourceType;
  name: string;
  /** `list`: the body is an array (or one object), each element an event. */
  body: 'object' | 'list';
  event_type_path: string | null;
  /** The provider's own event id: the first of these that is there. */
  event_id_paths: readonly string[];
  timestamp_path: string | null;
  /** Preferred over `timestamp_path` for events whose type ends with one of the suffixes, where the field is there. */
  timestamp_by_type?: readonly { suffixes: readonly string[]; path: string }[];
  timestamp_format: WebhookSource['timestamp_format'];
  event_name_map: Readonly<Record<string, string>>;
  /** For every event. */
  mappings: SourceMappings;
  /** For events whose type starts with one of the prefixes, over `mappings`. */
  by_type: readonly { prefixes: readonly string[]; mappings: SourceMappings }[];
}
