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
/** What each step changed, found by running the event again. */
export const changesQuery = ({ event_id, pipeline_id }: { event_id: string; pipeline_id: string }) => ({
  queryKey: ['event-changes', event_id, pipeline_id],
  queryFn: () => call(api.GET('/v1/admin/events/{event_id}/changes', { params: { path: { event_id }, query: { pipeline_id } } })),
  staleTime: 60_000,
});
type Found = Awaited<ReturnType<ReturnType<typeof eventQuery>['queryFn']>>;
export type Rejected = Extract<Found, { status: 'rejected' }>;
export type Explained = Exclude<Found, Rejected>;
export const isRejected = (found: Found): found is Rejected => 'dead_letter_id' in found;
