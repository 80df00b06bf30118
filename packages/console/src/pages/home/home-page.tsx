import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Page } from '../../components/page.tsx';
import { RangeSelect, useRange } from '../../components/range-select.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { milliseconds, number } from '../../format.ts';
import { pipelinesQuery, statsQuery } from '../../queries.ts';
import { Attention } from './attention.tsx';
import { FirstRun } from './first-run.tsx';
import { PipelineRates } from './pipeline-rates.tsx';

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0);
/** The largest reasons first: `consent not granted 1,611 · bot 373`. */
export function reasonsOf(dropped: Record<string, number>, most = 2): string {
  return Object.entries(dropped)
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${number(count)}`)
    .join(' · ');
}

export function HomePage() {
  const range = useRange();
  const pipelines = useQuery(pipelinesQuery());
  const stats = useQuery(statsQuery(range));
  if (pipelines.isPending) return <Loading what="your pipelines" />;
  if (pipelines.isError) return <Failed error={pipelines.error} retry={() => void pipelines.refetch()} />;
  if (pipelines.data.total === 0) return <FirstRun />;
  return (
    <Page title="Home" actions={<RangeSelect />}>
      {stats.isError ? (
        <Failed error={stats.error} retry={() => void stats.refetch()} />
      ) : (
        <Stats>
          <Stat
            label="Received"
            value={stats.data === undefined ? '…' : number(stats.data.totals.received)}
            note={stats.data && stats.data.totals.rejected > 0 ? `${number(stats.data.totals.rejected)} rejected` : 'none rejected'}
            series={stats.data?.series.map(({ received }) => received) ?? []}
            link={{ to: '/events' }}
          />
          <Stat
            label="Delivered"
            value={stats.data === undefined ? '…' : number(stats.data.totals.delivered)}
            note={stats.data ? `p50 ${milliseconds(stats.data.totals.p50_ms)} · p99 ${milliseconds(stats.data.totals.p99_ms)}` : ''}
            series={stats.data?.series.map(({ delivered }) => delivered) ?? []}
            link={{ to: '/events', search: { verdict: 'delivered' } }}
          />
          <Stat
            label="Dropped by your rules"
            value={stats.data === undefined ? '…' : number(sum(stats.data.totals.dropped))}
            note={stats.data ? reasonsOf(stats.data.totals.dropped) : ''}
            series={stats.data?.series.map(({ dropped }) => sum(dropped)) ?? []}
            link={{ to: '/events', search: { verdict: 'dropped' } }}
          />
          <Stat label="Waiting" value={stats.data === undefined ? '…' : number(stats.data.waiting)} note="in the delivery queues" />
          <Stat
            label="Dead letters"
            value={stats.data === undefined ? '…' : number(stats.data.totals.dead_lettered)}
            note="failed for good in this time"
            tone={stats.data && stats.data.totals.dead_lettered > 0 ? 'bad' : undefined}
            series={stats.data?.series.map(({ dead_lettered }) => dead_lettered) ?? []}
            link={{ to: '/dead-letters' }}
          />
        </Stats>
      )}
      <Attention />
      <PipelineRates pipelines={pipelines.data.pipelines} />
      {pipelines.data.total > pipelines.data.pipelines.length && <Link to="/pipelines">All {number(pipelines.data.total)} pipelines</Link>}
    </Page>
  );
}
