import type { Migration } from './migration.ts';

export const collectorFiles: Migration = {
  id: 2,
  name: 'collector files',
  sql: ({ text, bigint }) => [
    `alter table collector_builds add column source_map ${text}`,
    // Orders the builds of a pipeline independently of clocks.
    `alter table collector_builds add column row_version ${bigint} not null default 0`,
    `create index collector_builds_waiting on collector_builds (row_version) where status = 'building'`,
  ],
};
