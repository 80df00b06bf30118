/**
 * Statistics that are current to about two seconds: those of the API, read once a minute, and the live counts of the minutes since. Without
 * live counts the API is read more often instead.
 */
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type StatsScope, statsQuery } from '../queries.ts';
import { fixedRange, RANGES, type RangeKey } from '../time-range.ts';
import { addRecent, type BaseStatistics } from './add-recent.ts';
import type { CountsScope, RecentEntry, RecentState } from './recent-counts.ts';
import { useRecent } from './use-live.ts';

const MINUTE = 60_000;
/** The live counts hold the current minute and so many before. */
const WHOLE_MINUTES = 5;
/** Minutes that late outcomes may still change, left to the live counts. */
const LATE_MINUTES = 2;
const minuteOf = (ms: number): number => Math.floor(ms / MINUTE) * MINUTE;

/** The numbers and the chart of Home, or of a pipeline with its integrations. They share one answer. */
export function useTraffic(range: RangeKey, pipelineId?: string) {
  return useStats(range, { with_waiting: true, ...(pipelineId === undefined ? {} : { pipeline_id: pipelineId }) }, watchedOf(pipelineId));
}
export function useIntegrationStats(range: RangeKey, pipelineId: string) {
  return useStats(range, { pipeline_id: pipelineId, group_by: 'integration_id' }, watchedOf(pipelineId));
}
const watchedOf = (pipelineId: string | undefined): CountsScope =>
  pipelineId === undefined ? {} : { pipeline_id: pipelineId, group_by: 'integration_id' };

function useStats(range: RangeKey, scope: StatsScope, watched: CountsScope) {
  const recent = useRecent(watched);
  const query = useQuery(statsQuery(range, scope, sinceOf(recent)));
  const [data] = useContinued(range, [query], recent);
  return { ...query, data, readAt: readAt(query, recent) };
}

/** The statistics of pipelines, one query for each page of them. */
export function usePipelineStats(range: RangeKey, pages: readonly (readonly string[])[]) {
  const ids = pages.flat();
  // As many as one scope may name. Further ones are read from the API alone.
  const recent = useRecent(ids.length > 0 && ids.length <= 100 ? { pipeline_ids: ids.join(','), group_by: 'pipeline_id' } : undefined);
  const queries = useQueries({
    queries: pages
      .filter((page) => page.length > 0)
      .map((page) => statsQuery(range, { group_by: 'pipeline_id', pipeline_ids: page.join(',') }, sinceOf(recent))),
  });
  const data = useContinued(range, queries, recent);
  // The live counts are of all pages.
  const groups = data.map((page, at) => page?.groups?.filter(({ id }) => pages[at]?.includes(id)));
  return { queries, groups, recent };
}

/** Events received per minute over the last five whole minutes, which `range` names. */
export function rateOf({ time }: RecentState, series: readonly RecentEntry[] = []): { perMinute: number; range: string } {
  const to = minuteOf(time);
  const from = to - WHOLE_MINUTES * MINUTE;
  const whole = series.filter((entry) => Date.parse(entry.time) >= from && Date.parse(entry.time) < to);
  return { perMinute: whole.reduce((sum, { received = 0 }) => sum + received, 0) / WHOLE_MINUTES, range: fixedRange(from, to - 1) };
}

const sinceOf = (recent: RecentState | undefined): number | undefined =>
  recent?.isFresh ? minuteOf(recent.time) - LATE_MINUTES * MINUTE : undefined;
/** Whether the live counts reach back to the end of the statistics. They do not after a tab was asleep. */
const isContinued = ({ since }: BaseStatistics, recent: RecentState | undefined): boolean =>
  since === undefined || (recent !== undefined && since >= minuteOf(recent.time) - WHOLE_MINUTES * MINUTE);
/** When the numbers were read where they are not live. */
const readAt = ({ dataUpdatedAt }: UseQueryResult<BaseStatistics>, recent: RecentState | undefined): number | undefined =>
  recent?.isFresh ? undefined : Math.max(dataUpdatedAt, recent?.heardAt ?? 0);

function useContinued(range: RangeKey, queries: readonly UseQueryResult<BaseStatistics>[], recent: RecentState | undefined) {
  const isLive = recent?.isFresh === true;
  const shown = useRef(new WeakMap<BaseStatistics, { recent: RecentState | undefined; data: BaseStatistics }>());
  useEffect(() => {
    for (const { data, isFetching, isError, isPlaceholderData, refetch } of queries)
      if (data !== undefined && !isPlaceholderData && !isFetching && !isError)
        if ((data.since !== undefined) !== isLive || !isContinued(data, recent)) void refetch({ cancelRefetch: false });
  });
  const stepMs = RANGES[range].interval === 'minute' ? MINUTE : 60 * MINUTE;
  return queries.map(({ data }) => {
    if (data === undefined) return undefined;
    const last = shown.current.get(data);
    // What does not continue stays as it was last shown until it is read again.
    if (last !== undefined && (last.recent === recent || !isContinued(data, recent))) return last.data;
    const next = addRecent(data, recent?.counts, stepMs);
    shown.current.set(data, { recent, data: next });
    return next;
  });
}
