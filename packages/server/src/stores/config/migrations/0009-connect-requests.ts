import type { Migration } from './migration.ts';

/** OAuth connections that a person has started and not finished. */
export const connectRequests: Migration = {
  id: 9,
  name: 'connect-requests',
  sql: ({ text }) => [
    `create table connect_requests (state_hash ${text} primary key, org_id ${text} not null references organisations (id),
       user_id ${text} not null, session_id ${text} not null, browser_hash ${text} not null, template_id ${text} not null,
       integration_id ${text}, secrets ${text} not null, expires_at ${text} not null)`,
    'create index connect_requests_expiry on connect_requests (expires_at)',
  ],
};
