import type { Migration } from './migration.ts';

/** Days to keep the events of a pipeline. Null: as long as EVENT_RETENTION. */
export const pipelineRetention: Migration = {
  id: 13,
  name: 'pipeline-retention',
  sql: ({ bigint }) => [`alter table pipelines add column retention_days ${bigint}`],
};
