import { Closed, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { IdParams } from '../../../http/schema.ts';
import { observedFields } from '../../../operations/observed-fields.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { jsonBody } from '../serialise.ts';
import { requirePipeline } from './integrations.ts';

const ObservedField = named(
  'ObservedField',
  Closed({
    path: Type.String({ examples: ['properties.products[*].price'] }),
    types: Type.Array(OneOf(['string', 'number', 'boolean', 'null', 'object', 'array'])),
    // Without `type`: generators for typed languages do not support several types.
    example: Type.Unsafe<string | number | boolean | null>({
      description:
        'The newest value: text of at most 200 characters, a number, true, false or null. The current privacy rules apply to it.',
    }),
    events: Type.Array(Type.String(), {
      description: 'Events that carry it: track names, and `@page`, `@identify`, `@group`. At most 50.',
    }),
    last_seen_at: Timestamp,
  }),
);

export function fieldRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/pipelines/:id/fields',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List the fields that events really have',
        description:
          'From a sample of the retained events: the newest 1,000, and 250 each from before 1 hour, 6 hours, 1, 3 and 6 days ago. At most 1,000 fields.',
        tags: ['Events'],
        params: IdParams,
        response: {
          200: named(
            'ObservedFields',
            Closed({
              fields: Type.Array(ObservedField),
              sampled: Type.Integer({ description: 'How many events were read.' }),
              truncated: Type.Boolean({ description: 'Whether there are more fields than are listed.' }),
            }),
          ),
        },
      },
    },
    async ({ params, user }) => {
      const pipeline = await requirePipeline(context.db, user.org_id, params.id);
      const { log, observe, snapshots } = context.operations;
      return jsonBody(await observedFields({ log, observe, clock: context.clock, snapshots }, user.org_id, pipeline.id));
    },
  );
}
