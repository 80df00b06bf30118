import type { Migration } from './migration.ts';

/** An index per audit log filter, including its order, so that counting and paging use index-only scans. */
export const auditFilters: Migration = {
  id: 3,
  name: 'audit-filters',
  sql: () => [
    'drop index audit_logs_resource',
    'create index audit_logs_resource on audit_logs (org_id, resource_id, seq)',
    'create index audit_logs_action on audit_logs (org_id, action, seq)',
    'create index audit_logs_resource_type on audit_logs (org_id, resource_type, seq)',
    'create index audit_logs_user on audit_logs (org_id, user_id, seq)',
    'create index audit_logs_time on audit_logs (org_id, timestamp, seq)',
  ],
};
