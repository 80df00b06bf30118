/**
 * How far the first run has come, read from the API: a reload, a second tab and a colleague see the same steps. Frames of the live
 * connection only make it quicker. An event that was sent before the connection stood is found by the query.
 */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, call } from '../../api.ts';
import { useLiveFrames, useLiveState } from '../../live/use-live.ts';

export interface Setup {
  /** The newest accepted event. */
  first: { event_id: string; name: string } | undefined;
  /** The newest rejected event, for a pipeline that has not accepted any. */
  rejected: { event_id: string; reason: string } | undefined;
  integrations: number;
}
export const NOTHING_YET: Setup = { first: undefined, rejected: undefined, integrations: 0 };
/** Finds an event whose frame was missed: the connection was down, or too many frames came at once. */
const LOOK_AGAIN_MS = 10_000;

export const isComplete = ({ first, integrations }: Setup): boolean => first !== undefined && integrations > 0;

export const setupQuery = (pipelineId: string) =>
  queryOptions({
    queryKey: ['setup', pipelineId],
    queryFn: async ({ client, queryKey }): Promise<Setup> => {
      const [{ events }, { total }] = await Promise.all([
        call(api.GET('/v1/admin/events', { params: { query: { pipeline_id: pipelineId, limit: 20 } } })),
        call(api.GET('/v1/admin/pipelines/{id}/integrations', { params: { path: { id: pipelineId }, query: { limit: 1 } } })),
      ]);
      const accepted = events.find((event) => !('raw' in event));
      const rejected = events.find((event) => 'raw' in event);
      return {
        // A live frame is quicker than the list of events: an answer without the event must not take it back.
        first:
          accepted === undefined || 'raw' in accepted
            ? client.getQueryData<Setup>(queryKey)?.first
            : { event_id: accepted.event_id, name: accepted.event_name ?? accepted.type },
        rejected: rejected && { event_id: rejected.event_id, reason: rejected.reason ?? 'rejected' },
        integrations: total,
      };
    },
    // A finished set-up stays finished.
    staleTime: ({ state }) => (state.data !== undefined && isComplete(state.data) ? Infinity : 0),
    refetchInterval: ({ state }) => (state.data?.first === undefined ? LOOK_AGAIN_MS : false),
  });

/** The set-up of the only pipeline. Asks nothing without one. */
export function useSetup(pipelineId: string | undefined): Setup | undefined {
  const queries = useQueryClient();
  const { status } = useLiveState();
  const query = useQuery({ ...setupQuery(pipelineId ?? ''), enabled: pipelineId !== undefined });
  const waiting = pipelineId !== undefined && query.data?.first === undefined;
  useEffect(() => {
    // Frames from before the connection are missing: read the events once after it opened.
    if (status === 'live' && waiting) void queries.invalidateQueries({ queryKey: ['setup'] });
  }, [status, waiting, queries]);
  useLiveFrames(waiting ? { pipeline_id: pipelineId } : undefined, (frame) => {
    if (!waiting || frame.event_id === null || frame.stage === 'rejected') return;
    const first = { event_id: frame.event_id, name: frame.event ?? frame.type ?? 'event' };
    // Before the first answer the other steps are not known, and a finished set-up must not look unfinished.
    queries.setQueryData(setupQuery(pipelineId).queryKey, (old: Setup | undefined) => old && { ...old, first });
  });
  return query.data;
}
