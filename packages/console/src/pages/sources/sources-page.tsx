import { Box, Button, Modal, Table } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { AddressInput } from '../../components/address-input.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime } from '../../format.ts';
import { usePipelineNames } from '../../names.ts';
import { nextOffset } from '../../next-offset.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { BROKERS, isBroker } from './broker-connection.tsx';
import { NewSource } from './new-source.tsx';
import { SourcePanel } from './source-panel.tsx';
import { fetchSources, providerName, SOURCES, useSource } from './sources.ts';

/** So many rows need no search. */
const FEW = 8;

export function SourcesPage() {
  const [open, { open: show, close }] = useNewDialog('editor');
  const { selected, q = '' } = useSearch({ strict: false }) as { selected?: string; q?: string };
  const navigate = useNavigate();
  const [search] = useDebouncedValue(q.trim(), 200);
  const sources = useInfiniteQuery({
    queryKey: [...SOURCES, 'list', search],
    initialPageParam: 0,
    queryFn: ({ pageParam }) => fetchSources(search, pageParam),
    getNextPageParam: (last) => nextOffset(last, last.webhook_sources),
    placeholderData: keepPreviousData,
  });
  const rows = sources.data?.pages.flatMap((page) => page.webhook_sources) ?? [];
  const total = sources.data?.pages[0]?.total ?? 0;
  const isEmpty = sources.isSuccess && rows.length === 0 && q === '';
  const shown = useSource(selected);
  const pipelines = useQuery(pipelinesQuery());
  const names = usePipelineNames(rows.map(({ pipeline_id }) => pipeline_id));
  return (
    <Page
      title="Sources"
      about="Webhooks of other services, and messages of brokers, that become events."
      actions={
        !isEmpty && (
          <RoleButton needs="editor" onClick={show}>
            New source
          </RoleButton>
        )
      }
    >
      {(q !== '' || rows.length > FEW) && (
        <AddressInput
          mb="sm"
          w={280}
          size="xs"
          aria-label="Filter sources"
          placeholder="Part of the name"
          value={q}
          onChange={(text) =>
            void navigate({
              to: '/sources',
              search: (old: Record<string, unknown>) => ({ ...old, q: text || undefined }),
              replace: true,
            } as never)
          }
        />
      )}
      {sources.isPending ? (
        <Loading what="sources" />
      ) : sources.isLoadingError ? (
        <Failed error={sources.error} retry={() => void sources.refetch()} />
      ) : rows.length === 0 && !isEmpty ? (
        <Empty
          title="No source matches"
          action={
            <Button variant="default" onClick={() => void navigate({ to: '/sources' })}>
              Show all sources
            </Button>
          }
        />
      ) : isEmpty ? (
        <Empty
          title="No sources yet"
          action={
            <RoleButton needs="editor" onClick={show}>
              New source
            </RoleButton>
          }
        >
          Payments, orders, contacts and form answers become events of a pipeline. They arrive as signed webhooks, or from Kafka, NATS or
          SQS.
        </Empty>
      ) : (
        <section className="panel" style={{ overflowX: 'auto' }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>From</Table.Th>
                <Table.Th>Pipeline</Table.Th>
                <Table.Th visibleFrom="sm">Address</Table.Th>
                <Table.Th visibleFrom="sm">Created</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ id, name, provider, kind, connection, pipeline_id, url, enabled, created_at }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <Link to="/sources" search={{ ...(q === '' ? {} : { q }), selected: id }}>
                      <b>{name}</b>
                    </Link>{' '}
                    {!enabled && <Tag tone="warn">disabled</Tag>}
                    <Box hiddenFrom="sm" className="dim">
                      created {dateTime(created_at)}
                    </Box>
                  </Table.Td>
                  <Table.Td>{isBroker(kind) ? BROKERS[kind].label : providerName(provider)}</Table.Td>
                  <Table.Td>
                    <Link to="/pipelines/$pipelineId" params={{ pipelineId: pipeline_id }}>
                      {names.get(pipeline_id) ?? pipeline_id}
                    </Link>
                  </Table.Td>
                  <Table.Td visibleFrom="sm" className="mono">
                    {isBroker(kind) ? (connection?.topic ?? connection?.stream ?? connection?.queue_url) : url}
                  </Table.Td>
                  <Table.Td visibleFrom="sm">{dateTime(created_at)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      <MoreButton shown={rows.length} total={total} query={sources} />
      {selected !== undefined &&
        (shown.data !== undefined ? (
          <SourcePanel
            key={shown.data.id}
            source={shown.data}
            onClose={(removed = false) => void navigate({ to: '/sources', search: q === '' ? {} : { q }, ignoreBlocker: removed })}
          />
        ) : shown.isError ? (
          <Failed error={shown.error} retry={() => void shown.refetch()} />
        ) : (
          <Loading what="the source" />
        ))}
      {/* Opens with the form in it, so that the first field has the focus. */}
      <Modal opened={open && pipelines.data !== undefined} onClose={close} title="New source" size="lg">
        <NewSource pipelineId={pipelines.data?.pipelines[0]?.id ?? null} />
      </Modal>
    </Page>
  );
}
