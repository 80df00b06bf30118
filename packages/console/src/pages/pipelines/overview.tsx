import { useQueries, useQuery } from '@tanstack/react-query';
import { useRange } from '../../components/range-select.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { ago, milliseconds, number } from '../../format.ts';
import { integrationsQuery, statsQuery } from '../../queries.ts';
import { reasonsOf } from '../home/home-page.tsx';
import { PipelineGraph } from './graph.tsx';
import { IntegrationTable } from './integration-table.tsx';

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0);
/** Each integration has its own statistics; past this many only the table's health is shown. */
const MOST_WITH_STATS = 8;

export function Overview({ pipelineId }: { pipelineId: string }) {
  const range = useRange();
  const stats = useQuery(statsQuery(range, { pipeline_id: pipelineId }));
  const integrations = useQuery(integrationsQuery(pipelineId));
  const shown = integrations.data?.integrations.slice(0, MOST_WITH_STATS) ?? [];
  const each = useQueries({
    queries: shown.map(({ id }) => ({ ...statsQuery(range, { pipeline_id: pipelineId, integration_id: id }), refetchInterval: 60_000 })),
  });
  if (stats.isPending || integrations.isPending) return <Loading what="the pipeline’s numbers" />;
  if (stats.isError) return <Failed error={stats.error} retry={() => void stats.refetch()} />;
  if (integrations.isError) return <Failed error={integrations.error} retry={() => void integrations.refetch()} />;
  const { totals, waiting, series } = stats.data;
  const oldest = integrations.data.integrations.map(({ health }) => health.oldest_waiting_at).filter((at) => at !== null);
  const rows = integrations.data.integrations.map((integration, at) => ({
    integration,
    totals: each[at]?.data?.totals,
    waiting: each[at]?.data?.waiting,
  }));
  return (
    <>
      <Stats>
        <Stat
          label="Received"
          value={number(totals.received)}
          note={`${number(totals.duplicates)} duplicates`}
          series={series.map(({ received }) => received)}
          link={{ to: '/events', search: { pipeline: pipelineId } }}
        />
        <Stat
          label="Delivered"
          value={number(totals.delivered)}
          note={`p50 ${milliseconds(totals.p50_ms)} · p99 ${milliseconds(totals.p99_ms)}`}
          series={series.map(({ delivered }) => delivered)}
        />
        <Stat
          label="Dropped by your rules"
          value={number(sum(totals.dropped))}
          note={reasonsOf(totals.dropped)}
          series={series.map(({ dropped }) => sum(dropped))}
        />
        <Stat
          label="Waiting"
          value={number(waiting)}
          note={oldest.length === 0 ? 'nothing waits' : `oldest ${ago(oldest.sort()[0] ?? '')}`}
        />
        <Stat
          label="Dead letters"
          value={number(totals.dead_lettered)}
          note="in this time"
          tone={totals.dead_lettered > 0 ? 'bad' : undefined}
          link={{ to: '/dead-letters', search: { pipeline: pipelineId } }}
        />
      </Stats>
      <PipelineGraph
        pipelineId={pipelineId}
        received={totals.received}
        processed={totals.processed}
        dropped={totals.received - totals.processed}
        rows={rows}
      />
      <IntegrationTable pipelineId={pipelineId} rows={rows} />
    </>
  );
}
