/** How many events of the last 24 hours a change concerns, for the question before it. */
import { useQuery } from '@tanstack/react-query';
import { events } from '../format.ts';
import { statsQuery } from '../queries.ts';

export interface DayTotals {
  received: number;
  /** By `browser`, `server`, or the id of a webhook source. */
  received_by_source: Record<string, number>;
  delivered: number;
  dropped: Record<string, number>;
  processed: number;
}
type Scope = { integrationId: string } | { pipelineId: string };

export function LastDay({ children, ...scope }: Scope & { children: (totals: DayTotals) => string }) {
  const of = 'integrationId' in scope ? { integration_id: scope.integrationId } : { pipeline_id: scope.pipelineId };
  const { data, isError } = useQuery(statsQuery('24h', of));
  if (isError) return <>How many events that concerns is not known now.</>;
  return <>{data === undefined ? '…' : children(data.totals)}</>;
}

export const receivedText = ({ received }: DayTotals): string => `In the last 24 hours it received ${events(received)}.`;
/** `source`: `server`, or the id of a webhook source. */
export const sentText =
  (source: string) =>
  ({ received_by_source: sent }: DayTotals): string =>
    `In the last 24 hours ${events(sent[source] ?? 0)} came this way.`;
