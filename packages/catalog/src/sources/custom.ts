import type { SourceDefinition } from '@firsthand/core/inbound/source-definition.ts';

/** Everything is the user's to say; only the id of Standard Webhooks and of Svix is known by its name. */
export const custom: SourceDefinition = {
  provider: 'custom',
  source_type: 'custom',
  name: 'Custom',
  body: 'object',
  event_type_path: null,
  event_id_paths: ['$headers.webhook-id', '$headers.svix-id'],
  timestamp_path: null,
  timestamp_format: null,
  event_name_map: {},
  mappings: {},
  by_type: [],
};
