import type { Migration } from './migration.ts';

/** Ends of alerts that were disabled, deleted or changed while they fired. No reference to `alerts`: a deleted one has no row. */
export const alertEndings: Migration = {
  id: 19,
  name: 'alert-endings',
  sql: ({ text }) => [
    `create table alert_endings (alert_id ${text} not null, channel ${text} not null,
       org_id ${text} not null references organisations (id), sealed ${text} not null, created_at ${text} not null,
       primary key (alert_id, channel))`,
  ],
};
