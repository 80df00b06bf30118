/** A template, its revisions, and the integrations that have one of them pinned. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';
import { nextOffset } from '../../next-offset.ts';
import type { Config } from './draft.ts';

const fetchTemplate = (id: string) => call(api.GET('/v1/admin/integration-templates/{id}', { params: { path: { id } } }));
export type Template = Awaited<ReturnType<typeof fetchTemplate>>;
export const templateQuery = (id: string) => queryOptions({ queryKey: ['template', id], queryFn: () => fetchTemplate(id) });

export interface Revision {
  revision_number: number;
  config: Config;
  change_summary: string;
  created_at: string;
}
export const revisionQuery = (id: string, number: number | undefined) =>
  queryOptions({
    queryKey: ['revision', id, number],
    enabled: number !== undefined,
    // A revision never changes.
    staleTime: Infinity,
    queryFn: async (): Promise<Revision> =>
      call(api.GET('/v1/admin/integration-templates/{id}/revisions/{number}', { params: { path: { id, number: String(number) } } })),
  });
/** Newest first, a page at a time. */
export const revisionsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['revisions', id],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/admin/integration-templates/{id}/revisions', { params: { path: { id }, query: { limit: PAGE, offset: pageParam } } }),
      ),
    getNextPageParam: (last) => nextOffset(last, last.revisions),
  });
const PAGE = 50;

/** The integrations that use the template, in whichever pipelines. */
export const usesQuery = (templateId: string) =>
  queryOptions({
    queryKey: ['integrations', 'of-template', templateId],
    queryFn: () =>
      allPages(async (offset) => {
        const page = await call(api.GET('/v1/admin/integrations', { params: { query: { template_id: templateId, limit: 100, offset } } }));
        return { ...page, rows: page.integrations };
      }),
  });
