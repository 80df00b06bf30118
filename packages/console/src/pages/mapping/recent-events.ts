import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { SAMPLE_BODY } from '../../sample-event.ts';

const PAGE = 100;
const NO_EVENTS: CanonicalEvent[] = [];
/** What a draft is tried on: 500 events. */
export const TRIAL_PAGES = 5;

export interface RecentEvent {
  pipeline_id: string;
  event: CanonicalEvent;
}
/** The newest processed events of a pipeline or of all, 100 a page, fewer where they are large. */
export async function readRecentEvents(pipelineId: string | undefined, pages: number): Promise<RecentEvent[]> {
  const events = new Map<string, RecentEvent>();
  let cursor: string | null | undefined;
  for (let page = 0; page < pages && cursor !== null; page++) {
    const query = { limit: PAGE, ...(pipelineId !== undefined && { pipeline_id: pipelineId }), ...(cursor && { cursor }) };
    const answer = await call(api.GET('/v1/admin/events', { params: { query } }));
    for (const { event, pipeline_id } of answer.events.filter((one) => 'event' in one))
      if (event !== null) events.set(`${pipeline_id} ${event.event_id}`, { pipeline_id, event: event as unknown as CanonicalEvent }); // the API returns what processing stored
    cursor = answer.next_cursor;
  }
  return [...events.values()];
}

export function useRecentEvents(pipelineId: string | undefined, pages = 1): { events: CanonicalEvent[]; isLoading: boolean } {
  const query = useQuery({
    queryKey: ['recent-events', pipelineId, pages],
    enabled: pipelineId !== undefined,
    staleTime: 120_000,
    queryFn: async () => (await readRecentEvents(pipelineId, pages)).map(({ event }) => event),
  });
  return { events: query.data ?? NO_EVENTS, isLoading: query.isLoading };
}

const { userAgent, ...context } = SAMPLE_BODY.context;
export const sampleEvent: CanonicalEvent = {
  event_id: 'sample-order',
  type: 'track',
  event: SAMPLE_BODY.event,
  anonymous_id: SAMPLE_BODY.anonymousId,
  user_id: SAMPLE_BODY.userId,
  timestamp: new Date().toISOString(),
  properties: SAMPLE_BODY.properties,
  traits: SAMPLE_BODY.traits,
  context: {
    ...context,
    user_agent: userAgent,
    consent: { canonical: { essential: true, analytics: true, marketing: true, advertising: true } },
    click_ids: { fbclid: 'IwAR0abc', gclid: 'Cj0KCQ' },
    vendor_ids: { fbp: 'fb.1.1700000000000.123456789', ga_client_id: '111.222', ga_session_id: '1700000000' },
  },
};
