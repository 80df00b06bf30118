import type { Migration } from './migration.ts';

/** Default consent for events of a webhook source that arrive without consent. */
export const webhookConsent: Migration = {
  id: 6,
  name: 'webhook-consent',
  sql: ({ text }) => [`alter table webhook_sources add column default_consent ${text}`],
};
