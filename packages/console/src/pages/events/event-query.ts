import { api, call } from '../../api.ts';

export const eventQuery = (eventId: string) => ({
  queryKey: ['event', eventId],
  queryFn: () => call(api.GET('/v1/admin/events/{event_id}', { params: { path: { event_id: eventId } } })),
});
type Found = Awaited<ReturnType<ReturnType<typeof eventQuery>['queryFn']>>;
export type Rejected = Extract<Found, { status: 'rejected' }>;
export type Explained = Exclude<Found, Rejected>;
export const isRejected = (found: Found): found is Rejected => 'dead_letter_id' in found;
