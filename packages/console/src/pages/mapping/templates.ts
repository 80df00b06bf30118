/** A template, its revisions, and the integrations that have one of them pinned. */
import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
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
export const revisionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['revisions', id],
    queryFn: () => call(api.GET('/v1/admin/integration-templates/{id}/revisions', { params: { path: { id }, query: { limit: 100 } } })),
  });
