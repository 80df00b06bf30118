import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';

export const transformationsQuery = (pipelineId: string) => ({
  queryKey: ['transformations', pipelineId],
  queryFn: async () => ({
    transformations: await allPages(async (offset) => {
      const params = { path: { id: pipelineId }, query: { limit: 100, offset } };
      const page = await call(api.GET('/v1/admin/pipelines/{id}/transformations', { params }));
      return { ...page, rows: page.transformations };
    }),
  }),
});
