/** What several pages ask the API for, with the keys under which answers are shared. */
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './api.ts';
import { bounds, RANGES, type RangeKey } from './time-range.ts';

/** Statistics are at most ten seconds old on the server; asking more often shows nothing new. */
const STATS_EVERY_MS = 15_000;

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

const fetchIntegrations = (pipelineId: string) =>
  call(api.GET('/v1/admin/pipelines/{id}/integrations', { params: { path: { id: pipelineId }, query: { limit: 100 } } }));
export type Integration = Awaited<ReturnType<typeof fetchIntegrations>>['integrations'][number];

export const integrationsQuery = (pipelineId: string) =>
  queryOptions({
    queryKey: ['integrations', pipelineId],
    queryFn: () => fetchIntegrations(pipelineId),
    refetchInterval: 30_000,
  });

export const statsQuery = (range: RangeKey, scope: { pipeline_id?: string; integration_id?: string } = {}) =>
  queryOptions({
    queryKey: ['stats', range, scope],
    queryFn: () =>
      call(api.GET('/v1/admin/stats', { params: { query: { ...bounds(range), interval: RANGES[range].interval, ...scope } } })),
    refetchInterval: STATS_EVERY_MS,
  });

export const deadLetterCountQuery = () =>
  queryOptions({
    queryKey: ['dead-letter-count'],
    queryFn: async () => (await call(api.GET('/v1/admin/dlq', { params: { query: { limit: 1 } } }))).total,
    refetchInterval: 30_000,
  });
export const catalogQuery = () =>
  queryOptions({ queryKey: ['catalog'], queryFn: () => call(api.GET('/v1/admin/integration-catalog', {})), staleTime: 3_600_000 });
