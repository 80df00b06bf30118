import { AnyObject, Closed, Id, Nullable, named, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf, TimeQuery } from '../../../http/schema.ts';
import { findAudit, listAudit, verifyAudit } from '../../../stores/config/audit-logs.ts';
import { decodeInTurns } from '../../../stores/config/paging.ts';
import { maskAuditedParameters } from '../../../stores/config/pipeline-parameters.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { timeRange } from '../time-range.ts';

const tags = ['Audit log'];
const Entry = named(
  'AuditLog',
  Closed({
    id: Id('aud'),
    org_id: Id('org'),
    user_id: Nullable(Id('usr')),
    user_email: Nullable(Type.String()),
    action: Type.String({ examples: ['pipeline.updated'] }),
    resource_type: Type.String({ examples: ['pipeline'] }),
    resource_id: Nullable(Type.String()),
    changes: AnyObject({ description: '`{field: {old, new}}`, secrets masked.', examples: [{ enabled: { old: true, new: false } }] }),
    ip_address: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
    timestamp: Timestamp,
  }),
);

export function auditRoutes(app: AdminApp, { db, cipher }: AdminContext): void {
  app.get(
    '/audit-logs',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List audit entries',
        description:
          'Newest first. Every write leaves exactly one entry, in its own transaction. A failed sign-in is recorded in the organisation of the e-mail address; an unknown address belongs to no organisation and leaves only a log line.',
        tags,
        querystring: Type.Object({
          user_id: Type.Optional(Type.String()),
          action: Type.Optional(Type.String()),
          resource_type: Type.Optional(Type.String()),
          resource_id: Type.Optional(Type.String()),
          from: Type.Optional(TimeQuery('The first moment that counts.')),
          to: Type.Optional(TimeQuery('The last moment that counts.')),
          ...PageQuery,
        }),
        response: { 200: ListOf('audit_logs', Entry) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { user_id, action, resource_type, resource_id } = query;
      const filter = { user_id, action, resource_type, resource_id, ...timeRange(query) };
      const { rows, total } = await listAudit(db, user.org_id, filter, page);
      const audit_logs = await decodeInTurns(rows, (row) => ({ ...row, changes: maskAuditedParameters(row.changes) }));
      return { audit_logs, total, ...page };
    },
  );

  app.get(
    '/audit-logs/verify',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Verify the audit chain',
        description:
          'Recomputes every link. Links are HMACs under a key that `SECRET_KEY` protects; entries of versions before that are plain hashes. `first_invalid_id` is null if entries are missing at the end.',
        tags,
        response: {
          200: Closed({ valid: Type.Boolean(), checked: Type.Integer(), first_invalid_id: Nullable(Type.String()) }),
        },
      },
    },
    async ({ user }) => {
      const { valid, checked, first_invalid_id } = await verifyAudit(db, cipher, user.org_id);
      return { valid, checked, first_invalid_id };
    },
  );

  app.get(
    '/audit-logs/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read an audit entry', tags, params: IdParams, response: { 200: Entry } } },
    async ({ params, user }) => {
      const entry = await findAudit(db, user.org_id, params.id);
      if (entry === undefined) throw new ApiError('NOT_FOUND');
      return { ...entry, changes: maskAuditedParameters(entry.changes) };
    },
  );
}
