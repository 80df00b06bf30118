import type { Migration } from './migration.ts';

export const testCases: Migration = {
  id: 8,
  name: 'test-cases',
  sql: ({ text }) => [
    `create table test_cases (id ${text} primary key, org_id ${text} not null references organisations (id), name ${text} not null,
       event ${text} not null, pipeline_id ${text}, created_by ${text} not null, created_at ${text} not null)`,
    'create index test_cases_list on test_cases (org_id, created_at, id)',
  ],
};
