import { Table } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRange } from '../../components/range-select.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { Tag } from '../../components/tag.tsx';
import { number } from '../../format.ts';
import { statsQuery } from '../../queries.ts';

/** One query each: the first few pipelines only, so that an open page stays within the request limit. */
const MOST = 6;

export function PipelineRates({
  pipelines,
}: {
  pipelines: readonly { id: string; name: string; type: string; enabled: boolean; labels: readonly string[] }[];
}) {
  const range = useRange();
  const shown = pipelines.slice(0, MOST);
  const stats = useQueries({ queries: shown.map(({ id }) => ({ ...statsQuery(range, { pipeline_id: id }), refetchInterval: 60_000 })) });
  return (
    <section className="panel" aria-label="Pipelines">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Pipeline</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th>Received</Table.Th>
            <Table.Th w={200}>Over time</Table.Th>
            <Table.Th>Dead letters</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ id, name, type, enabled }, at) => {
            const data = stats[at]?.data;
            return (
              <Table.Tr key={id}>
                <Table.Td>
                  <Link to="/pipelines/$pipelineId" params={{ pipelineId: id }}>
                    <b>{name}</b>
                  </Link>{' '}
                  {!enabled && <Tag tone="warn">disabled</Tag>}
                </Table.Td>
                <Table.Td>{type}</Table.Td>
                <Table.Td>{data === undefined ? '…' : number(data.totals.received)}</Table.Td>
                <Table.Td>
                  {data !== undefined && data.series.length > 1 && (
                    <Sparkline label={`Events of ${name}`} values={data.series.map(({ received }) => received)} />
                  )}
                </Table.Td>
                <Table.Td>{data === undefined ? '…' : number(data.totals.dead_lettered)}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}
