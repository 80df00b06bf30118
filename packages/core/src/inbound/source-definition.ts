import type { WebhookProvider, WebhookSource, WebhookSourceType } from '../config/resources.ts';

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
  timestamp_format: WebhookSource['timestamp_format'];
  event_name_map: Readonly<Record<string, string>>;
  /** For every event. */
  mappings: Readonly<Record<string, string>>;
  /** For events whose type starts with one of the prefixes, over `mappings`. */
  by_type: readonly { prefixes: readonly string[]; mappings: Readonly<Record<string, string>> }[];
}
