/** The pipelines with their rate. Pages and searches on the server, and asks only for the numbers of the pipelines in view. */
import { Box, Group, Table } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { AddressInput } from '../../components/address-input.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { PipelineLink } from '../../components/pipeline-link.tsx';
import { useRange } from '../../components/range-select.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { Empty, Failed, Loading, Outdated } from '../../components/states.tsx';
import { number, perMinute } from '../../format.ts';
import { rateOf, usePipelineStats } from '../../live/use-stats.ts';
import { nextOffset } from '../../next-offset.ts';
import { deadOf, deliveredOf, ratesQuery } from '../../queries.ts';
import { countedSearch } from '../dead-letters/search.ts';
import { countedEvents } from '../events/search.ts';
import classes from './attention.module.css';

const PAGE = 25;

export function PipelineRates() {
  const { q = '' } = useSearch({ strict: false }) as { q?: string };
  const navigate = useNavigate();
  const range = useRange();
  const [search] = useDebouncedValue(q.trim(), 200);
  const pipelines = useInfiniteQuery({
    queryKey: ['pipelines', 'rates', search],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/admin/pipelines', { params: { query: { limit: PAGE, offset: pageParam, ...(search === '' ? {} : { search }) } } })),
    getNextPageParam: (last) => nextOffset(last, last.pipelines),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const pages = pipelines.data?.pages ?? [];
  const { queries, groups, recent } = usePipelineStats(
    range,
    pages.map((page) => page.pipelines.map(({ id }) => id)),
  );
  const rates = useQuery({ ...ratesQuery(), enabled: recent?.isFresh !== true });
  const rate = (id: string): { perMinute: number; range: string } | undefined => {
    if (recent?.isFresh) return rateOf(recent, recent.counts.groups?.find((group) => group.id === id)?.series);
    return rates.data && { perMinute: rates.data.byPipeline.get(id) ?? 0, range: rates.data.range };
  };
  const byId = new Map(groups.flatMap((page) => page?.map((group) => [group.id, group] as const) ?? []));
  const failed = queries.find(({ isError }) => isError);
  const rows = pages.flatMap((page, at) => page.pipelines.map((pipeline) => ({ ...pipeline, isCounted: groups[at] !== undefined })));
  const total = pages[0]?.total ?? 0;
  return (
    <section className={`panel ${classes.list}`} aria-label="Pipelines">
      <Group justify="space-between" className={classes.head} gap="xs">
        <h2 className={classes.title}>Pipelines</h2>
        {(total > PAGE || q !== '') && (
          <AddressInput
            size="xs"
            w={220}
            aria-label="Filter pipelines"
            placeholder="Part of the name or slug"
            value={q}
            onChange={(text) =>
              void navigate({
                to: '/',
                search: (old: { q?: string }) => ({ ...old, q: text === '' ? undefined : text }),
                replace: true,
              } as never)
            }
          />
        )}
      </Group>
      {failed !== undefined && (
        <Outdated what="The numbers of the pipelines" error={failed.error} retry={() => queries.forEach((each) => void each.refetch())} />
      )}
      {pipelines.isPending ? (
        <Loading what="your pipelines" />
      ) : pipelines.isLoadingError ? (
        <Failed error={pipelines.error} retry={() => void pipelines.refetch()} />
      ) : rows.length === 0 ? (
        <Empty title="No pipeline matches" action={<LinkButton to="/">Show all pipelines</LinkButton>} />
      ) : (
        <div style={{ overflowX: 'auto' }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Pipeline</Table.Th>
                <Table.Th visibleFrom="sm">Type</Table.Th>
                <Table.Th ta="right">Rate</Table.Th>
                <Table.Th ta="right" visibleFrom="xs">
                  Received
                </Table.Th>
                <Table.Th w={200} visibleFrom="sm">
                  Over time
                </Table.Th>
                <Table.Th ta="right">Delivered</Table.Th>
                <Table.Th ta="right">Dead</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ id, name, type, enabled, isCounted }) => {
                const group = byId.get(id);
                const current = rate(id);
                const dead = group === undefined ? 0 : deadOf(group.totals);
                const count = (value: number | undefined): string => (isCounted ? number(value ?? 0) : '…');
                return (
                  <Table.Tr key={id}>
                    <Table.Td>
                      <PipelineLink pipeline={{ id, name, enabled }} />
                      <Box hiddenFrom="xs" className="dim">
                        {type},{' '}
                        <Link to="/events" search={{ pipeline: id, range }}>
                          {count(group?.totals.received)} received
                        </Link>
                      </Box>
                    </Table.Td>
                    <Table.Td visibleFrom="sm">{type}</Table.Td>
                    <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                      <Link
                        to="/events"
                        search={{ pipeline: id, range: current?.range ?? '1h' }}
                        title="The events of the last five minutes"
                      >
                        {current === undefined ? '…' : perMinute(current.perMinute)}
                      </Link>
                    </Table.Td>
                    <Table.Td ta="right" visibleFrom="xs">
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
                      <Link to="/events" search={countedEvents({ pipeline: id, delivery: 'delivered', range })}>
                        {count(group && deliveredOf(group.totals))}
                      </Link>
                    </Table.Td>
                    <Table.Td ta="right">
                      <Link
                        to="/dead-letters"
                        search={countedSearch({ pipeline: id }, range)}
                        style={dead === 0 ? undefined : { color: 'var(--bad)' }}
                      >
                        {count(dead)}
                      </Link>
                    </Table.Td>
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
          <MoreButton shown={rows.length} total={total} query={pipelines} />
        </div>
      )}
    </section>
  );
}
