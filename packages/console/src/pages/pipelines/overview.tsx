import { useQuery } from '@tanstack/react-query';
import { useRange } from '../../components/range-select.tsx';
import { Failed, Loading, Outdated } from '../../components/states.tsx';
import { ago } from '../../format.ts';
import { useIntegrationStats, useTraffic } from '../../live/use-stats.ts';
import { integrationsQuery } from '../../queries.ts';
import { Numbers } from '../home/numbers.tsx';
import { Traffic } from '../home/traffic.tsx';
import { PipelineGraph } from './graph.tsx';
import { IntegrationTable } from './integration-table.tsx';

export function Overview({ pipelineId }: { pipelineId: string }) {
  const range = useRange();
  const stats = useTraffic(range, pipelineId);
  const each = useIntegrationStats(range, pipelineId);
  const integrations = useQuery(integrationsQuery(pipelineId));
  if (stats.isLoadingError) return <Failed error={stats.error} retry={() => void stats.refetch()} />;
  if (integrations.isLoadingError) return <Failed error={integrations.error} retry={() => void integrations.refetch()} />;
  if (stats.data === undefined || integrations.isPending) return <Loading what="the pipeline’s numbers" />;
  const { totals } = stats.data;
  const oldest = integrations.data.integrations
    .map(({ health }) => health.oldest_waiting_at)
    .filter((at) => at !== null)
    .sort()[0];
  const byId = new Map(each.data?.groups?.map((group) => [group.id, group.totals]));
  const none = { delivered: 0, replayed: 0, dead_lettered: 0, dead_lettered_again: 0, p50_ms: null, p99_ms: null };
  const rows = integrations.data.integrations.map((integration) => ({
    integration,
    totals: each.data === undefined ? undefined : (byId.get(integration.id) ?? none),
  }));
  return (
    <>
      <Numbers range={range} pipelineId={pipelineId} oldest={oldest === undefined ? 'nothing waits' : `oldest ${ago(oldest)}`} />
      <PipelineGraph
        pipelineId={pipelineId}
        range={range}
        received={totals.received}
        bySource={totals.received_by_source}
        processed={totals.processed}
        dropped={droppedBeforeRouting(totals.dropped)}
        rows={rows}
      />
      {each.isError && <Outdated what="The numbers of each integration" error={each.error} retry={() => void each.refetch()} />}
      <IntegrationTable pipelineId={pipelineId} range={range} rows={rows} />
      <Traffic range={range} pipelineId={pipelineId} />
    </>
  );
}

/** Reasons of processing; the others are of one integration. */
const BEFORE_ROUTING = ['bot', 'custom_code', 'routing_rule', 'tracking_plan', 'transformation'];
const droppedBeforeRouting = (dropped: Record<string, number>): number =>
  BEFORE_ROUTING.reduce((sum, reason) => sum + (dropped[reason] ?? 0), 0);
