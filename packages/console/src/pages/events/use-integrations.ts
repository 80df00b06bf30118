import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Integration, integrationsQuery } from '../../queries.ts';

/** One query per pipeline: only for the first few, so that a large organisation does not fill the request limit. */
const MOST = 8;

/** The integrations of the pipelines, by pipeline, in the order in which they are listed everywhere. */
export function useIntegrations(pipelineIds: readonly string[]): ReadonlyMap<string, readonly Integration[]> {
  const asked = pipelineIds.slice(0, MOST);
  const answers = useQueries({
    queries: asked.map((id) => ({ ...integrationsQuery(id), refetchInterval: false as const, staleTime: 60_000 })),
    combine: (results) => results.map(({ data }) => data?.integrations),
  });
  const key = asked.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the list of ids
  return useMemo(() => new Map(asked.map((id, at) => [id, answers[at] ?? []])), [key, answers]);
}
