/** How many events of the last 24 hours a change concerns, for the question before it. */
import { useQuery } from '@tanstack/react-query';
import { number } from '../format.ts';
import { statsQuery } from '../queries.ts';

export interface DayTotals {
  delivered: number;
  dropped: Record<string, number>;
}

export function LastDay({ integrationId, children }: { integrationId: string; children: (totals: DayTotals) => string }) {
  const { data, isError } = useQuery(statsQuery('24h', { integration_id: integrationId }));
  if (isError) return <>How many events that concerns is not known now.</>;
  return <>{data === undefined ? '…' : children(data.totals)}</>;
}

export const deliveredText = ({ delivered }: DayTotals): string => `In the last 24 hours it delivered ${number(delivered)} events.`;
/** Without the condition, events like those held back for consent are sent too. */
export const heldBackText = ({ dropped }: DayTotals): string =>
  `In the last 24 hours ${number(dropped.consent_not_granted ?? 0)} events were held back from it for consent.`;
