import { api, call } from '../../api.ts';

/** Without its pipeline, the newest event of that id in any of them. */
export const eventQuery = (eventId: string, pipelineId: string | undefined) => ({
  queryKey: ['event', eventId, pipelineId],
  queryFn: () =>
    call(
      api.GET('/v1/admin/events/{event_id}', {
        params: { path: { event_id: eventId }, query: pipelineId === undefined ? {} : { pipeline_id: pipelineId } },
      }),
    ),
});
type Found = Awaited<ReturnType<ReturnType<typeof eventQuery>['queryFn']>>;
export type Rejected = Extract<Found, { status: 'rejected' }>;
export type Explained = Exclude<Found, Rejected>;
export const isRejected = (found: Found): found is Rejected => 'dead_letter_id' in found;
