import type { Migration } from './migration.ts';

/** The start of the keyed part of an organisation's audit chain, and a MAC over the head of the chain. */
export const keyedAudit: Migration = {
  id: 5,
  name: 'keyed-audit',
  sql: ({ text }) => [
    `alter table organisations add column audit_anchor ${text}`,
    `alter table audit_heads add column mac ${text} not null default ''`,
  ],
};
