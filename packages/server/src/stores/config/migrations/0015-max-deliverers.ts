import type { Migration } from './migration.ts';

/** Most processes that deliver an integration at the same time. */
export const maxDeliverers: Migration = {
  id: 15,
  name: 'max-deliverers',
  sql: ({ bigint }) => [`alter table integrations add column max_deliverers ${bigint} not null default 1`],
};
