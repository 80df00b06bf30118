import type { Integration } from '@firsthand/core/config/resources.ts';
import { Closed, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError, invalid } from '../../../http/errors.ts';
import { IdsQuery, idsOf, TimeQuery } from '../../../http/schema.ts';
import { backlogOf } from '../../../operations/health.ts';
import { findIntegrationById } from '../../../stores/config/integrations.ts';
import { pipelineIsKnown } from '../../../stores/config/pipelines.ts';
import { statisticsJson } from '../../../stores/observe/statistics.ts';
import { countGroups } from '../../../stores/observe/stats.ts';
import { definedOf } from '../defined.ts';
import type { AdminApp, AdminContext, AdminDeps } from '../deps.ts';
import { jsonBody } from '../serialise.ts';
import { timeRange } from '../time-range.ts';

const DAY = 86_400_000;
const MAX_ENTRIES = 11_000;
/** Groups times entries, checked before any is built. */
const MAX_GROUPED_ENTRIES = 50_000;
const LENGTH = { minute: 60_000, hour: 3_600_000, day: DAY };
const Entry = {
  received: Type.Integer({
    description: 'Accepted events, without duplicates. For an integration: events that reached it.',
  }),
  received_by_source: Type.Record(Type.String(), Type.Integer(), {
    description: 'By `browser`, `server` or the id of a webhook source. Earlier versions did not count it.',
  }),
  rejected: Type.Integer({ description: 'Events that were answered with an error, and webhooks that could not be verified or mapped.' }),
  rejected_by_reason: Type.Record(Type.String(), Type.Integer(), {
    description: 'By error code; `webhook_rejected` of a webhook, which is answered 200.',
  }),
  rejected_dropped: Type.Integer({
    description:
      'Rejected events of which no copy was kept, in a flood or beyond the newest 1,000. Those that are only counted, such as `rate_limited`, are not among them.',
  }),
  duplicates: Type.Integer({ description: 'Events with a known `messageId`: answered 200, not processed again.' }),
  processed: Type.Integer({ description: 'Events that reached the integrations of their pipeline.' }),
  dropped: Type.Record(Type.String(), Type.Integer(), {
    description: 'By reason. An event that several integrations drop counts once for each.',
  }),
  dropped_again: Type.Record(Type.String(), Type.Integer(), {
    description:
      'Replays that were dropped, by reason. With `dropped` it is the number of drops that `GET /events?delivery=dropped` lists. Earlier versions did not count it.',
  }),
  delivered: Type.Integer({ description: 'Deliveries: an event counts once for each integration.' }),
  retried: Type.Integer({ description: 'Failed attempts that were followed by another one.' }),
  dead_lettered: Type.Integer(),
  dead_lettered_again: Type.Integer({
    description:
      'Replays that failed for good, each of them one more dead letter. With `dead_lettered` it is the number of dead letters of the stages `processing`, `mapping` and `delivery`.',
  }),
  replayed: Type.Integer({ description: 'Deliveries that a replay asked for, also a replay of events that had failed in processing.' }),
  plan_violations: Type.Integer({ description: 'Processed events that violate the tracking plan, flagged or allowed.' }),
  p50_ms: Nullable(Type.Number({ description: 'From acceptance to delivery.' })),
  p99_ms: Nullable(Type.Number()),
};

const Counts = named('StatisticsCounts', Closed(Entry));
const Waiting = Type.Optional(Type.Integer({ description: 'With `with_waiting`: the backlog at the end of the interval.' }));
const SERIES = { series: Type.Array(named('StatisticsEntry', Closed({ time: Timestamp, waiting: Waiting, ...Entry }))), totals: Counts };

export function statsRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/stats',
    {
      config: { role: 'viewer', errors: ['NOT_FOUND'] },
      schema: {
        summary: 'Statistics',
        description:
          'The last 24 hours by hour, unless the query says otherwise. For an integration, since it was added: received = delivered + the sum of dropped + dead_lettered + waiting. Those of a deleted pipeline stay.',
        tags: ['Statistics'],
        querystring: Type.Object({
          pipeline_id: Type.Optional(Type.String()),
          pipeline_ids: Type.Optional(IdsQuery('Only these pipelines.')),
          integration_id: Type.Optional(Type.String()),
          from: Type.Optional(TimeQuery('The first minute that counts.')),
          to: Type.Optional(TimeQuery('The last minute that counts.')),
          interval: Type.Optional(OneOf(['minute', 'hour', 'day'], { default: 'hour' })),
          fill: Type.Optional(
            Type.Boolean({ description: 'Adds an entry for every interval without events, for charts.', default: false }),
          ),
          with_waiting: Type.Optional(
            Type.Boolean({
              description: 'Adds `waiting` to the entries of `series`, not to those of `groups`: the backlog over time.',
              default: false,
            }),
          ),
          group_by: Type.Optional(
            OneOf(['pipeline_id', 'integration_id'], {
              description:
                'Adds `groups`: the series and totals of every pipeline or integration. Not together with `integration_id`. The group of an integration has only its own outcomes: what was received, processed, or ended before routing is counted for the pipeline.',
            }),
          ),
        }),
        response: {
          200: named(
            'Statistics',
            Closed({
              ...SERIES,
              waiting: Type.Integer({ description: 'Events in the backlog now.' }),
              groups: Type.Optional(Type.Array(named('StatisticsGroup', Closed({ id: Type.String(), ...SERIES })))),
            }),
          ),
        },
      },
    },
    async ({ query, user }) => jsonBody(await readStatistics(context, user.org_id, query)),
  );
}

interface StatisticsQuery {
  pipeline_id?: string;
  pipeline_ids?: string;
  integration_id?: string;
  from?: string;
  to?: string;
  interval?: 'minute' | 'hour' | 'day';
  fill?: boolean;
  with_waiting?: boolean;
  group_by?: 'pipeline_id' | 'integration_id';
}
/** As JSON. Also read by the debug socket, for its live counts. */
export async function readStatistics(
  deps: Pick<AdminDeps, 'db' | 'clock' | 'operations'>,
  org_id: string,
  query: StatisticsQuery,
): Promise<Buffer> {
  const { observe, log, snapshots } = deps.operations;
  const { pipeline_id, integration_id, interval = 'hour', fill = false, with_waiting = false, group_by } = query;
  const range = timeRange(query);
  const to = range.to ?? Math.max(deps.clock.now(), range.from ?? 0);
  const from = range.from ?? to - DAY;
  if ((to - from) / LENGTH[interval] > MAX_ENTRIES) throw invalid('interval', 'is too short for this time range');
  if (group_by !== undefined && integration_id !== undefined) throw invalid('group_by', 'must not be combined with integration_id');
  const integration = integration_id === undefined ? undefined : await findIntegrationById(deps.db, org_id, integration_id);
  if (integration_id !== undefined && (integration === undefined || (pipeline_id ?? integration.pipeline_id) !== integration.pipeline_id))
    throw new ApiError('NOT_FOUND', { message: 'There is no such integration.' });
  if (pipeline_id !== undefined && !(await pipelineIsKnown(deps.db, org_id, pipeline_id)))
    throw new ApiError('NOT_FOUND', { message: 'There is no such pipeline.' });
  const pipeline_ids = idsOf('pipeline_ids', query.pipeline_ids);
  const asked = { org_id, ...definedOf({ pipeline_id, pipeline_ids }), from, to, interval, fill };
  const entries = Math.floor((to - from) / LENGTH[interval]) + 1;
  if (group_by !== undefined && (await countGroups(observe, asked, group_by)) * entries > MAX_GROUPED_ENTRIES)
    throw invalid('interval', 'is too short for this time range and number of groups');
  const integrations = [...snapshots.current().integrations.values()]
    .map((compiled) => compiled.integration)
    .filter(
      (each) =>
        each.org_id === org_id &&
        (integration_id ?? each.id) === each.id &&
        (pipeline_id ?? each.pipeline_id) === each.pipeline_id &&
        (pipeline_ids ?? [each.pipeline_id]).includes(each.pipeline_id),
    );
  const waiting = await backlogOf(log, integrations);
  const json = await statisticsJson(observe, {
    ...asked,
    ...definedOf({ group_by }),
    ...(integration && { integration: { ...sinceOf(integration), waiting } }),
    waiting,
    ...(with_waiting && { backlog_of: integrations.map(sinceOf) }),
  });
  return Buffer.from(json.buffer, json.byteOffset, json.byteLength);
}

function sinceOf({ id, pipeline_id, created_at }: Integration) {
  return { id, pipeline_id, created_at };
}
