import type { Migration } from './migration.ts';

/** Consent that a webhook source's events have where they arrive without any. */
export const webhookConsent: Migration = {
  id: 6,
  name: 'webhook-consent',
  sql: ({ text }) => [`alter table webhook_sources add column default_consent ${text}`],
};
