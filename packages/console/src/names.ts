/** The names of pipelines, integrations and sources that a page knows by id. An organisation may have more than one page of the API holds. */
import { useQueries } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { api, call } from './api.ts';
import { inBatches } from './in-batches.ts';

const NAMES_FOR_MS = 300_000;

const loadPipelineName = inBatches(async (ids) => {
  const { pipelines } = await call(api.GET('/v1/admin/pipelines', { params: { query: { ids: ids.join(','), limit: 100 } } }));
  return new Map(pipelines.map(({ id, name }) => [id, name]));
});
const loadIntegrationName = inBatches(async (ids) => {
  const all = await allPages(async (offset) => {
    const page = await call(api.GET('/v1/admin/integrations', { params: { query: { ids: ids.join(','), limit: 100, offset } } }));
    return { ...page, rows: page.integrations };
  });
  return new Map(all.map(({ id, name }) => [id, name]));
});
const loadSourceName = inBatches(async (ids) => {
  const all = await allPages(async (offset) => {
    const page = await call(api.GET('/v1/admin/webhook-sources', { params: { query: { ids: ids.join(','), limit: 100, offset } } }));
    return { ...page, rows: page.webhook_sources };
  });
  return new Map(all.map(({ id, name }) => [id, name]));
});

const useNames = (kind: string, ids: readonly string[], load: (id: string) => Promise<string | null>): ReadonlyMap<string, string> => {
  const known = [...new Set(ids)];
  return useQueries({
    queries: known.map((id) => ({ queryKey: [kind, id, 'name'], queryFn: () => load(id), staleTime: NAMES_FOR_MS })),
    combine: (answers) => new Map(answers.flatMap(({ data }, at) => (typeof data === 'string' ? [[known[at] ?? '', data]] : []))),
  });
};
/** A change of the pipeline's name is seen at once: its key begins like the pipeline's own. */
export const usePipelineNames = (ids: readonly string[]) => useNames('pipeline', ids, loadPipelineName);
export const useIntegrationNames = (ids: readonly string[]) => useNames('integration', ids, loadIntegrationName);
export const useSourceNames = (ids: readonly string[]) => useNames('webhook-source', ids, loadSourceName);
