import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';
import { inBatches } from '../../in-batches.ts';
import type { Integration } from '../../queries.ts';

const loadIntegrations = inBatches(async (pipelineIds) => {
  const all = await allPages(async (offset) => {
    const page = await call(
      api.GET('/v1/admin/integrations', { params: { query: { pipeline_ids: pipelineIds.join(','), limit: 100, offset } } }),
    );
    return { ...page, rows: page.integrations };
  });
  return Map.groupBy(all, ({ pipeline_id }) => pipeline_id);
});

/** The integrations of the pipelines, by pipeline, in the order in which they are listed everywhere. One request for up to 100 pipelines. */
export function useIntegrations(pipelineIds: readonly string[]): ReadonlyMap<string, readonly Integration[]> {
  const answers = useQueries({
    queries: pipelineIds.map((id) => ({
      queryKey: ['integrations', id, 'listed'],
      queryFn: () => loadIntegrations(id),
      staleTime: 60_000,
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  const key = pipelineIds.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the list of ids
  return useMemo(() => new Map(pipelineIds.map((id, at) => [id, answers[at] ?? []])), [key, answers]);
}
