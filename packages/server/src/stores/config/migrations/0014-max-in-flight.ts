import type { Migration } from './migration.ts';

/** Most requests in flight of an integration. Null: as many as the vendor's definition says. */
export const maxInFlight: Migration = {
  id: 14,
  name: 'max-in-flight',
  sql: ({ bigint }) => [`alter table integrations add column max_in_flight ${bigint}`],
};
