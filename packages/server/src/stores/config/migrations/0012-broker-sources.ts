import type { Migration } from './migration.ts';

/** Sources that read from a broker: its kind, and how to connect. */
export const brokerSources: Migration = {
  id: 12,
  name: 'broker-sources',
  sql: ({ text }) => [
    `alter table webhook_sources add column kind ${text} not null default 'webhook'`,
    `alter table webhook_sources add column connection ${text}`,
  ],
};
