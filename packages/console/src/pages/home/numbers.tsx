/** Received, delivered, dropped, waiting, dead: the number, its change against the same time before, its shape, and the way to its events. */
import { useQuery } from '@tanstack/react-query';
import { AsOf } from '../../components/as-of.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { Failed, Outdated } from '../../components/states.tsx';
import { words } from '../../components/tag.tsx';
import { change, milliseconds, number } from '../../format.ts';
import { useTraffic } from '../../live/use-stats.ts';
import { deadOf, deliveredOf, droppedOf, earlierStatsQuery } from '../../queries.ts';
import { RANGES, type RangeKey } from '../../time-range.ts';
import { countedSearch } from '../dead-letters/search.ts';
import { countedEvents } from '../events/search.ts';

export const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0);
const RESULTS =
  'Results in this time. An event that goes to two integrations has two; the list shows it once, with the number of results above.';
const REJECTED =
  'Events that were refused when they came. The list shows the copies that are kept: at most 1,000 of a pipeline. Further ones are only counted.';
/** Short enough for a tile. */
const RULES: Readonly<Record<string, string>> = {
  consent_not_granted: 'consent',
  bot: 'bots',
  event_filtered: 'filter',
  mapping_default: 'not mapped',
  mapping_filter: 'filter of the mapping',
};
/** The largest two first: `consent 1,611`. */
const reasonsOf = (dropped: Record<string, number>) =>
  Object.entries(dropped)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 2)
    .map(([reason, count]) => ({ reason, text: `${RULES[reason] ?? words(reason)} ${number(count)}` }));

export function Numbers({ range, pipelineId, oldest }: { range: RangeKey; pipelineId?: string; oldest?: string | undefined }) {
  const scope = pipelineId === undefined ? {} : { pipeline_id: pipelineId };
  const pipeline = pipelineId === undefined ? {} : { pipeline: pipelineId };
  const stats = useTraffic(range, pipelineId);
  const earlier = useQuery(earlierStatsQuery(range, scope));
  if (stats.isLoadingError) return <Failed error={stats.error} retry={() => void stats.refetch()} />;
  const { data } = stats;
  const before = earlier.data?.totals;
  const dead = data && deadOf(data.totals);
  const shown = (value: number | undefined): string => (value === undefined ? '…' : number(value));
  const moved = (now: number | undefined, then: number | undefined) =>
    now === undefined || then === undefined ? undefined : change(now, then);
  const length = RANGES[range].label.replace('Last ', '').toLowerCase();
  const against = `against the ${length} before`;
  const backlog = data?.series.map(({ waiting = 0 }) => waiting) ?? [];
  return (
    <>
      {stats.isError && <Outdated what="These numbers" error={stats.error} retry={() => void stats.refetch()} />}
      <AsOf at={stats.readAt} />
      <Stats>
        <Stat
          label="Received"
          value={shown(data?.totals.received)}
          change={moved(data?.totals.received, before?.received)}
          against={against}
          note={
            data && data.totals.rejected > 0
              ? [
                  {
                    text: `${number(data.totals.rejected)} rejected`,
                    title: REJECTED,
                    link: { to: '/events', search: { ...pipeline, range, status: 'rejected' } },
                  },
                ]
              : 'none rejected'
          }
          series={data?.series.map(({ received }) => received) ?? []}
          link={{ to: '/events', search: { ...pipeline, range } }}
        />
        <Stat
          label="Delivered"
          value={shown(data && deliveredOf(data.totals))}
          change={moved(data && deliveredOf(data.totals), before && deliveredOf(before))}
          against={against}
          note={data ? `p50 ${milliseconds(data.totals.p50_ms)} · p99 ${milliseconds(data.totals.p99_ms)}` : ''}
          series={data?.series.map(deliveredOf) ?? []}
          counts={RESULTS}
          link={{ to: '/events', search: countedEvents({ ...pipeline, range, delivery: 'delivered' }) }}
        />
        <Stat
          label="Dropped by your rules"
          value={shown(data && sum(droppedOf(data.totals)))}
          change={moved(data && sum(droppedOf(data.totals)), before && sum(droppedOf(before)))}
          against={against}
          note={
            data === undefined
              ? ''
              : reasonsOf(droppedOf(data.totals)).map(({ reason, text }) => ({
                  text,
                  link: { to: '/events', search: countedEvents({ ...pipeline, range, reason }) },
                }))
          }
          series={data?.series.map((entry) => sum(droppedOf(entry))) ?? []}
          counts={RESULTS}
          link={{ to: '/events', search: countedEvents({ ...pipeline, range, delivery: 'dropped' }) }}
        />
        <Stat
          label="Waiting"
          value={shown(data?.waiting)}
          change={moved(data?.waiting, backlog[0])}
          against={`against the beginning of the ${length}`}
          note={oldest ?? (data?.waiting === 0 ? 'nothing waits' : 'not delivered yet')}
          series={backlog}
          counts="Deliveries that are due now. An event that waits for two integrations counts twice, and is listed once."
          link={{ to: '/events', search: { ...pipeline, delivery: 'waiting' } }}
        />
        <Stat
          label="Dead letters"
          value={shown(dead)}
          change={moved(dead, before && deadOf(before))}
          against={against}
          note="given up in this time"
          tone={dead !== undefined && dead > 0 ? 'bad' : undefined}
          series={data?.series.map(deadOf) ?? []}
          link={{ to: '/dead-letters', search: countedSearch(pipeline, range) }}
        />
      </Stats>
    </>
  );
}
