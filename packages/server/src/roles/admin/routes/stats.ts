import { Nullable, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from 'typebox';
import { ApiError, invalid } from '../../../http/errors.ts';
import { TimeQuery } from '../../../http/schema.ts';
import { waitingFor } from '../../../operations/health.ts';
import { findIntegrationById } from '../../../stores/config/integrations.ts';
import { readStats } from '../../../stores/observe/stats.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { timeRange } from '../time-range.ts';
import { requirePipeline } from './integrations.ts';

const DAY = 86_400_000;
const MOST_ENTRIES = 11_000;
const LENGTH = { minute: 60_000, hour: 3_600_000, day: DAY };
const Entry = {
  received: Type.Integer(),
  rejected: Type.Integer(),
  duplicates: Type.Integer(),
  processed: Type.Integer(),
  dropped: Type.Record(Type.String(), Type.Integer()),
  delivered: Type.Integer(),
  retried: Type.Integer(),
  dead_lettered: Type.Integer(),
  replayed: Type.Integer({ description: 'Deliveries that a replay asked for.' }),
  p50_ms: Nullable(Type.Number({ description: 'From acceptance to delivery.' })),
  p99_ms: Nullable(Type.Number()),
};

export function statsRoutes(app: AdminApp, context: AdminContext): void {
  const { observe, log, snapshots } = context.operations;
  app.get(
    '/stats',
    {
      config: { role: 'viewer', errors: ['NOT_FOUND'] },
      schema: {
        summary: 'Statistics',
        description:
          'The last 24 hours by hour unless told otherwise. For an integration, from the minute it was added, received = delivered + the sum of dropped + dead_lettered + waiting.',
        tags: ['Statistics'],
        querystring: Type.Object({
          pipeline_id: Type.Optional(Type.String()),
          integration_id: Type.Optional(Type.String()),
          from: Type.Optional(TimeQuery('The first minute that counts.')),
          to: Type.Optional(TimeQuery('The last minute that counts.')),
          interval: Type.Optional(OneOf(['minute', 'hour', 'day'])),
        }),
        response: {
          200: Type.Object({
            series: Type.Array(Type.Object({ time: Timestamp, ...Entry })),
            totals: Type.Object(Entry),
            waiting: Type.Integer(),
          }),
        },
      },
    },
    async ({ query, user }) => {
      const { pipeline_id, integration_id, interval = 'hour' } = query;
      const range = timeRange(query);
      const to = range.to ?? Math.max(context.clock.now(), range.from ?? 0);
      const from = range.from ?? to - DAY;
      if ((to - from) / LENGTH[interval] > MOST_ENTRIES) throw invalid('interval', 'is too fine for so long a time');
      const integration = integration_id === undefined ? undefined : await findIntegrationById(context.db, user.org_id, integration_id);
      if (
        integration_id !== undefined &&
        (integration === undefined || (pipeline_id ?? integration.pipeline_id) !== integration.pipeline_id)
      )
        throw new ApiError('NOT_FOUND', { message: 'There is no such integration.' });
      if (pipeline_id !== undefined) await requirePipeline(context.db, user.org_id, pipeline_id);
      const named = { ...(pipeline_id === undefined ? {} : { pipeline_id }), ...(integration_id === undefined ? {} : { integration_id }) };
      const stats = await readStats(observe, { org_id: user.org_id, ...named, from, to, interval }, integration);
      const waiting = await Promise.all(
        [...snapshots.current().integrations.values()]
          .map((compiled) => compiled.integration)
          .filter(
            (each) =>
              each.org_id === user.org_id &&
              (integration_id ?? each.id) === each.id &&
              (pipeline_id ?? each.pipeline_id) === each.pipeline_id,
          )
          .map((each) => waitingFor(log, each)),
      );
      return { ...stats, waiting: waiting.reduce((sum, each) => sum + each.waiting - each.replays, 0) };
    },
  );
}
