/** How many events of the last 24 hours a change concerns, for the question before it. */
import { useQuery } from '@tanstack/react-query';
import { statsQuery } from '../queries.ts';

export interface DayTotals {
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
