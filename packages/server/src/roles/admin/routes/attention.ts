import { Closed, Id, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ATTENTION_KINDS, attentionItems } from '../../../operations/attention.ts';
import { listApiTokens } from '../../../stores/config/api-tokens.ts';
import { type AdminApp, type AdminContext, roleReaches } from '../deps.ts';
import { MAX_API_TOKENS } from './api-tokens.ts';

const AttentionItem = named(
  'AttentionItem',
  Closed({
    kind: OneOf(ATTENTION_KINDS),
    severity: OneOf(['critical', 'warning']),
    message: Type.String({ description: 'One sentence for people.' }),
    pipeline_id: Nullable(Id('pl')),
    integration_id: Nullable(Id('int')),
    webhook_source_id: Nullable(Id('whs')),
    api_token_id: Nullable(Id('apt')),
    count: Nullable(Type.Integer({ description: 'How many events it concerns.' })),
    since: Nullable(Timestamp),
  }),
);

export function attentionRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/attention',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List what needs attention',
        description:
          'Failing, misconfigured and silent parts (also sources that cannot read from their broker), backlogs, dead letters and plan violations of the last 24 hours, API tokens that end within 14 days (only for the role admin), and warnings. At most 200, the most urgent first.',
        tags: ['Statistics'],
        response: { 200: named('AttentionList', Closed({ items: Type.Array(AttentionItem), checked_at: Timestamp })) },
      },
    },
    async ({ user }) => {
      const { rows: tokens } = roleReaches(user.role, 'admin')
        ? await listApiTokens(context.db, user.org_id, { limit: MAX_API_TOKENS, offset: 0 })
        : { rows: [] };
      return {
        items: await attentionItems({ ...context.operations, clock: context.clock }, user.org_id, tokens),
        checked_at: new Date(context.clock.now()).toISOString(),
      };
    },
  );
}
