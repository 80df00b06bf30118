import type { Migration } from './migration.ts';

/** Finds what was written since a version without reading the long rows of the others. */
export const changedDocuments: Migration = {
  id: 17,
  name: 'changed-documents',
  sql: () =>
    ['pipelines', 'integrations', 'transformations', 'tracking_plans', 'webhook_sources'].map(
      (table) => `create index ${table}_changed on ${table} (org_id, row_version)`,
    ),
};
