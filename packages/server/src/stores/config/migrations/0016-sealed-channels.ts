import type { Migration } from './migration.ts';

/** Sealed channels of alerts. Null: written before this column existed, so their addresses are still in `channels`. */
export const sealedChannels: Migration = {
  id: 16,
  name: 'sealed-channels',
  sql: ({ text }) => [`alter table alerts add column sealed_channels ${text}`],
};
