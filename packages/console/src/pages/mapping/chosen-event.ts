/**
 * The event that a preview is computed for. The address says which one: a test case, a recent event, or the sample order where it names none.
 */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api, call } from '../../api.ts';
import { eventQuery, isRejected } from '../events/event-query.ts';
import { sampleEvent } from './recent-events.ts';

export interface ChosenEvent {
  id: string;
  /** The sample order until the chosen one is read. */
  event: CanonicalEvent;
  /** Changes with the event, also when it is read. */
  key: string;
  /** Why the event of the address cannot be shown. */
  failure: unknown;
  choose: (id: string) => void;
}
/** Ids of test cases begin with it. */
const TEST_CASE = 'tc_';
export const isTestCase = (id: string): boolean => id.startsWith(TEST_CASE);

async function readEvent(id: string, pipelineId: string | undefined): Promise<CanonicalEvent> {
  if (isTestCase(id)) {
    const saved = await call(api.GET('/v1/admin/test-cases/{id}', { params: { path: { id } } }));
    return { timestamp: sampleEvent.timestamp, context: {}, ...saved.event } as unknown as CanonicalEvent; // a test case may be incomplete
  }
  const found = await eventQuery(id, pipelineId).queryFn();
  if (isRejected(found)) throw new Error('This event was rejected: no mapping has seen it.');
  return found.event as unknown as CanonicalEvent; // the API returns what processing stored
}

export function useChosenEvent(pipelineId: string | undefined): ChosenEvent {
  const { event: named } = useSearch({ strict: false }) as { event?: string };
  const navigate = useNavigate();
  const read = useQuery({
    queryKey: ['chosen-event', named, pipelineId],
    enabled: named !== undefined,
    queryFn: () => readEvent(named ?? '', pipelineId),
    // Neither an event nor a test case changes.
    staleTime: Infinity,
  });
  const { data, error } = read;
  return useMemo(() => {
    const id = named ?? sampleEvent.event_id;
    return {
      id,
      event: (named === undefined ? undefined : data) ?? sampleEvent,
      key: data === undefined ? `${id} …` : id,
      failure: error ?? undefined,
      choose: (next) =>
        void navigate({
          to: '.',
          search: (old: object) => ({ ...old, event: next === sampleEvent.event_id ? undefined : next }),
          replace: true,
        } as never),
    };
  }, [named, data, error, navigate]);
}
