import { bytesOf } from './paging.ts';
import type { Schema } from './schema.ts';

/** The columns of each table that may be large. Their sizes decide how many rows one query reads. */
export const LARGE_COLUMNS = {
  data_layers: ['config'],
  pipelines: ['domain_allowlist', 'labels', 'parameters', 'parameter_secrets', 'config', 'js_builder_config', 'identity_config'],
  tracking_plans: ['plan'],
  integrations: ['event_filter'],
  revisions: ['config', 'secrets'],
  transformations: ['rules', 'code', 'event_filter'],
  webhook_sources: ['mappings', 'event_name_map', 'connection', 'default_consent'],
} as const satisfies { readonly [Table in keyof Schema]?: readonly (keyof Schema[Table])[] };

/** The stored bytes of a row of these tables, joined. */
export function rowBytes(...tables: (keyof typeof LARGE_COLUMNS)[]) {
  return bytesOf(...tables.flatMap((table) => LARGE_COLUMNS[table].map((column) => `${table}.${column}`)));
}
