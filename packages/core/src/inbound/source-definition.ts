import type { WebhookProvider, WebhookSource, WebhookSourceType } from '../config/resources.ts';

/**
 * Origin of a value. A text is a path or a quoted literal, as users write them. The other forms are for presets. `number` reads numeric
 * text. `currency` writes the code in capitals. `major_units` divides an amount in the currency's smallest unit (100 cents become 1).
 * `first` is the first of its values that is there. `each` creates one object per list element, with paths relative to the element.
 */
export type SourceValue =
  | string
  | { path: string; as: 'number' | 'currency' }
  | { path: string; as: 'major_units'; currency: string }
  | { first: readonly SourceValue[] }
  | { each: string; fields: Readonly<Record<string, SourceValue>> };
export type SourceMappings = Readonly<Record<string, SourceValue>>;

/** A service that sends webhooks, described as data: the location of its ids, types and times, and the default mappings. */
export interface SourceDefinition {
  provider: WebhookProvider;
  source_type: WebhookSourceType;
  name: string;
  /** `list`: the body is an array (or a single object), and each element is an event. */
  body: 'object' | 'list';
  event_type_path: string | null;
  /** Paths of the provider's event id. The first one present is used. */
  event_id_paths: readonly string[];
  timestamp_path: string | null;
  /** Used instead of `timestamp_path` for events whose type ends with one of the suffixes, if the field is present. */
  timestamp_by_type?: readonly { suffixes: readonly string[]; path: string }[];
  timestamp_format: WebhookSource['timestamp_format'];
  event_name_map: Readonly<Record<string, string>>;
  /** Applies to every event. */
  mappings: SourceMappings;
  /** Overrides `mappings` for events whose type starts with one of the prefixes. */
  by_type: readonly { prefixes: readonly string[]; mappings: SourceMappings }[];
}
