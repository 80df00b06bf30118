import type { SourceDefinition } from '@firsthand/core/inbound/source-definition.ts';

/**
 * https://docs.svix.com/receiving/verifying-payloads/how-manual — for services that send through Svix. The payload is each service's own;
 * most follow Standard Webhooks: `{type, timestamp, data}`.
 */
export const svix: SourceDefinition = {
  provider: 'svix',
  source_type: 'custom',
  name: 'Svix',
  body: 'object',
  event_type_path: '$.type',
  event_id_paths: ['$headers.svix-id', '$headers.webhook-id'],
  timestamp_path: '$.timestamp',
  timestamp_format: null,
  event_name_map: {},
  mappings: { properties: '$.data' },
  by_type: [],
};
