/** Every setting of the service. `config.ts` reads the environment through this table, and docs/reference/settings.md is generated from it. */
import { ALERTS } from './groups/alerts.ts';
import { DELIVERY_AND_DATA } from './groups/delivery-and-data.ts';
import { LIMITS } from './groups/limits.ts';
import { LISTENING } from './groups/listening.ts';
import { LOGGING } from './groups/logging.ts';
import { OPENTELEMETRY } from './groups/opentelemetry.ts';
import { RETENTION_AND_RETRIES } from './groups/retention-and-retries.ts';
import { ROLES_AND_SECURITY } from './groups/roles-and-security.ts';
import { STORES } from './groups/stores.ts';
import type { Setting } from './setting.ts';

/** Headings of docs/reference/settings.md, in this order. */
export const SETTING_GROUPS: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  Listening: LISTENING,
  Stores: STORES,
  'Roles and security': ROLES_AND_SECURITY,
  Limits: LIMITS,
  'Retention and retries': RETENTION_AND_RETRIES,
  'Delivery and data': DELIVERY_AND_DATA,
  Alerts: ALERTS,
  Logging: LOGGING,
  OpenTelemetry: OPENTELEMETRY,
};

export const SETTINGS = {
  ...LISTENING,
  ...STORES,
  ...ROLES_AND_SECURITY,
  ...LIMITS,
  ...RETENTION_AND_RETRIES,
  ...DELIVERY_AND_DATA,
  ...ALERTS,
  ...LOGGING,
  ...OPENTELEMETRY,
};
