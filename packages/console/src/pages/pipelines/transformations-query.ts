import { api, call } from '../../api.ts';

/** As many as a pipeline may have. */
const MOST = 100;

export const transformationsQuery = (pipelineId: string) => ({
  queryKey: ['transformations', pipelineId],
  queryFn: () =>
    call(api.GET('/v1/admin/pipelines/{id}/transformations', { params: { path: { id: pipelineId }, query: { limit: MOST } } })),
});
