/** Queries that several pages share, with the keys of their cached responses. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { api, call } from './api.ts';
import { bounds, fixedRange, RANGES, type RangeKey } from './time-range.ts';

/** Statistics are at most ten seconds old on the server; asking more often shows nothing new. */
const STATS_EVERY_MS = 20_000;
/** Where the live counts add the last minutes. */
const CONTINUED_STATS_EVERY_MS = 60_000;

/** The newest 100. Lists that must hold every pipeline page and search on the server. */
export const pipelinesQuery = () =>
  queryOptions({
    queryKey: ['pipelines'],
    queryFn: () => call(api.GET('/v1/admin/pipelines', { params: { query: { limit: 100 } } })),
    staleTime: 30_000,
  });

export const pipelineQuery = (id: string) =>
  queryOptions({
    queryKey: ['pipeline', id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}', { params: { path: { id } } })),
    staleTime: 30_000,
  });

async function fetchIntegrations(pipelineId: string) {
  const integrations = await allPages(async (offset) => {
    const page = await call(
      api.GET('/v1/admin/pipelines/{id}/integrations', { params: { path: { id: pipelineId }, query: { limit: 100, offset } } }),
    );
    return { ...page, rows: page.integrations };
  });
  return { integrations, total: integrations.length };
}
export type Integration = Awaited<ReturnType<typeof fetchIntegrations>>['integrations'][number];

export const integrationsQuery = (pipelineId: string) =>
  queryOptions({
    queryKey: ['integrations', pipelineId],
    queryFn: () => fetchIntegrations(pipelineId),
    refetchInterval: 30_000,
  });

export interface StatsScope {
  pipeline_id?: string;
  pipeline_ids?: string;
  integration_id?: string;
  group_by?: 'pipeline_id' | 'integration_id';
  with_waiting?: boolean;
}
/** `since`: the live counts go on from this minute, see `useStats`. Without it the statistics are complete by themselves. */
export const statsQuery = (range: RangeKey, scope: StatsScope = {}, since?: number) =>
  queryOptions({
    queryKey: ['stats', range, scope],
    queryFn: async () => {
      const limits = { ...bounds(range), ...(since === undefined ? {} : { to: new Date(since - 1).toISOString() }) };
      const query = { ...limits, interval: RANGES[range].interval, fill: true, ...scope };
      return { since, from: limits.from, ...(await call(api.GET('/v1/admin/stats', { params: { query } }))) };
    },
    refetchInterval: since === undefined ? STATS_EVERY_MS : CONTINUED_STATS_EVERY_MS,
    placeholderData: keepPreviousData,
  });
/** All dead letters of the time, also of replays that failed again. */
export const deadOf = ({ dead_lettered, dead_lettered_again }: { dead_lettered: number; dead_lettered_again: number }): number =>
  dead_lettered + dead_lettered_again;
/** All drops of the time by reason, also of replays. During an upgrade an earlier version may answer, which does not count those. */
export function droppedOf({ dropped, dropped_again = {} }: { dropped: Record<string, number>; dropped_again?: Record<string, number> }) {
  const all = { ...dropped };
  for (const [reason, count] of Object.entries(dropped_again)) all[reason] = (all[reason] ?? 0) + count;
  return all;
}
/** All deliveries of the time, also of replays. */
export const deliveredOf = ({ delivered, replayed }: { delivered: number; replayed: number }): number => delivered + replayed;
/** The same length of time before the range, to compare with. */
export const earlierStatsQuery = (range: RangeKey, scope: StatsScope = {}) =>
  queryOptions({
    queryKey: ['earlier-stats', range, scope],
    queryFn: () =>
      call(
        api.GET('/v1/admin/stats', {
          params: { query: { ...bounds(range, Date.now() - RANGES[range].ms), interval: RANGES[range].interval, ...scope } },
        }),
      ),
    staleTime: 300_000,
  });
/** Events received per minute, by pipeline, over the last five whole minutes, which `range` names. Only where the live counts are away. */
export const ratesQuery = () =>
  queryOptions({
    queryKey: ['rates'],
    queryFn: async () => {
      const to = Math.floor(Date.now() / 60_000) * 60_000 - 1;
      const { groups = [] } = await call(
        api.GET('/v1/admin/stats', {
          params: {
            query: {
              from: new Date(to + 1 - RATE_MINUTES * 60_000).toISOString(),
              to: new Date(to).toISOString(),
              interval: 'minute',
              group_by: 'pipeline_id',
            },
          },
        }),
      );
      return {
        range: fixedRange(to + 1 - RATE_MINUTES * 60_000, to),
        byPipeline: new Map(groups.map(({ id, totals: { received } }) => [id, received / RATE_MINUTES])),
      };
    },
    refetchInterval: 30_000,
  });
const RATE_MINUTES = 5;

const fetchAttention = () => call(api.GET('/v1/admin/attention', {}));
export type AttentionItem = Awaited<ReturnType<typeof fetchAttention>>['items'][number];
export const attentionQuery = () => queryOptions({ queryKey: ['attention'], queryFn: fetchAttention, refetchInterval: 30_000 });

export const deadLetterCountQuery = () =>
  queryOptions({
    queryKey: ['dead-letter-count'],
    queryFn: async () => (await call(api.GET('/v1/admin/dlq', { params: { query: { status: 'pending', limit: 1 } } }))).total,
    refetchInterval: 30_000,
  });
/** For administrators. */
export const apiTokensQuery = () =>
  queryOptions({
    queryKey: ['api-tokens'],
    queryFn: () =>
      allPages(async (offset) => {
        const page = await call(api.GET('/v1/admin/api-tokens', { params: { query: { limit: 100, offset } } }));
        return { ...page, rows: page.api_tokens };
      }),
  });
export const catalogQuery = () =>
  queryOptions({ queryKey: ['catalog'], queryFn: () => call(api.GET('/v1/admin/integration-catalog', {})), staleTime: 3_600_000 });
export const organisationQuery = () =>
  queryOptions({ queryKey: ['organisation'], queryFn: () => call(api.GET('/v1/admin/organisation', {})), staleTime: 300_000 });
export const installationQuery = () =>
  queryOptions({ queryKey: ['installation'], queryFn: () => call(api.GET('/v1/admin/installation', {})), staleTime: 30_000 });
export const signInMethodsQuery = () =>
  queryOptions({ queryKey: ['sign-in-methods'], queryFn: () => call(api.GET('/v1/admin/auth/methods', {})), staleTime: 300_000 });
