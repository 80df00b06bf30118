import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRange } from '../../components/range-select.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { Tag } from '../../components/tag.tsx';
import { number, perMinute } from '../../format.ts';
import { ratesQuery, statsQuery } from '../../queries.ts';

export function PipelineRates({
  pipelines,
}: {
  pipelines: readonly { id: string; name: string; type: string; enabled: boolean; labels: readonly string[] }[];
}) {
  const range = useRange();
  const stats = useQuery({ ...statsQuery(range, { group_by: 'pipeline_id' }), refetchInterval: 60_000 });
  const rates = useQuery(ratesQuery());
  const byId = new Map(stats.data?.groups?.map((group) => [group.id, group]));
  const count = (value: number | undefined): string => (stats.data === undefined ? '…' : number(value ?? 0));
  return (
    <section className="panel" style={{ overflowX: 'auto' }} aria-label="Pipelines">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Pipeline</Table.Th>
            <Table.Th visibleFrom="sm">Type</Table.Th>
            <Table.Th ta="right">Rate</Table.Th>
            <Table.Th ta="right">Received</Table.Th>
            <Table.Th w={200} visibleFrom="sm">
              Over time
            </Table.Th>
            <Table.Th ta="right">Delivered</Table.Th>
            <Table.Th ta="right">Dead letters</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pipelines.map(({ id, name, type, enabled }) => {
            const group = byId.get(id);
            const dead = group?.totals.dead_lettered ?? 0;
            return (
              <Table.Tr key={id}>
                <Table.Td>
                  <Link to="/pipelines/$pipelineId" params={{ pipelineId: id }}>
                    <b>{name}</b>
                  </Link>{' '}
                  {!enabled && <Tag tone="warn">disabled</Tag>}
                </Table.Td>
                <Table.Td visibleFrom="sm">{type}</Table.Td>
                <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                  {rates.data === undefined ? '…' : perMinute(rates.data.byPipeline.get(id) ?? 0)}
                </Table.Td>
                <Table.Td ta="right">
                  <Link to="/events" search={{ pipeline: id, range }}>
                    {count(group?.totals.received)}
                  </Link>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  {group !== undefined && group.series.length > 1 && (
                    <Sparkline label={`Events of ${name}`} values={group.series.map(({ received }) => received)} />
                  )}
                </Table.Td>
                <Table.Td ta="right">
                  <Link to="/events" search={{ pipeline: id, delivery: 'delivered', range }}>
                    {count(group?.totals.delivered)}
                  </Link>
                </Table.Td>
                <Table.Td ta="right">
                  <Link to="/dead-letters" search={{ pipeline: id }} style={dead === 0 ? undefined : { color: 'var(--bad)' }}>
                    {count(dead)}
                  </Link>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}
