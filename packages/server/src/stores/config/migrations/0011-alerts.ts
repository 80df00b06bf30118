import type { Migration } from './migration.ts';

export const alerts: Migration = {
  id: 11,
  name: 'alerts',
  sql: ({ text, bigint }) => [
    `create table alerts (id ${text} primary key, org_id ${text} not null references organisations (id), name ${text} not null,
       kind ${text} not null, pipeline_id ${text}, integration_id ${text}, threshold double precision not null,
       window_minutes ${bigint} not null, channels ${text} not null, enabled ${bigint} not null, created_at ${text} not null,
       updated_at ${text} not null)`,
    'create index alerts_list on alerts (org_id, created_at, id)',
    `create table alert_states (alert_id ${text} primary key references alerts (id), firing ${bigint} not null, since ${text} not null,
       value double precision not null, message ${text} not null, event_id ${text}, announced ${text} not null)`,
  ],
};
