import type { Migration } from './migration.ts';

/** A page of all integrations in the order of the list: without it each page sorts all of them. */
export const integrationsList: Migration = {
  id: 18,
  name: 'integrations-list',
  sql: () => ['create index integrations_list on integrations (org_id, created_at, id)'],
};
