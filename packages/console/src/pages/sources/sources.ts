import { api, call } from '../../api.ts';

export const sourcesQuery = {
  queryKey: ['webhook-sources'],
  queryFn: () => call(api.GET('/v1/admin/webhook-sources', { params: { query: { limit: 100 } } })),
};
export type Source = Awaited<ReturnType<typeof sourcesQuery.queryFn>>['webhook_sources'][number];
