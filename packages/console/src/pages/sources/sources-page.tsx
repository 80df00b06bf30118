import { Button, Modal, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime } from '../../format.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { BROKERS, isBroker } from './broker-connection.tsx';
import { NewSource } from './new-source.tsx';
import { SourcePanel } from './source-panel.tsx';
import { sourcesQuery } from './sources.ts';

export function SourcesPage() {
  const [open, { open: show, close }] = useNewDialog('editor');
  const may = useMay('editor');
  const pipelines = useQuery(pipelinesQuery());
  const { selected } = useSearch({ strict: false }) as { selected?: string };
  const navigate = useNavigate();
  const sources = useQuery(sourcesQuery);
  const shown = sources.data?.webhook_sources.find(({ id }) => id === selected);
  const names = new Map(pipelines.data?.pipelines.map(({ id, name }) => [id, name]));
  return (
    <Page
      title="Sources"
      about="Webhooks of other services, and messages of brokers, that become events."
      actions={
        <Button onClick={show} disabled={!may} title={may ? undefined : 'Needs the role editor'}>
          New source
        </Button>
      }
    >
      {sources.isPending ? (
        <Loading what="sources" />
      ) : sources.isError ? (
        <Failed error={sources.error} retry={() => void sources.refetch()} />
      ) : sources.data.webhook_sources.length === 0 ? (
        <Empty title="No sources yet">
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
                <Table.Th visibleFrom="sm">Since</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sources.data.webhook_sources.map(({ id, name, provider, kind, connection, pipeline_id, url, enabled, created_at }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <Link to="/sources" search={{ selected: id }}>
                      <b>{name}</b>
                    </Link>{' '}
                    {!enabled && <Tag tone="warn">disabled</Tag>}
                  </Table.Td>
                  <Table.Td>{isBroker(kind) ? BROKERS[kind].label : provider}</Table.Td>
                  <Table.Td>{names.get(pipeline_id) ?? pipeline_id}</Table.Td>
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
      {shown !== undefined && <SourcePanel key={shown.id} source={shown} onClose={() => void navigate({ to: '/sources', search: {} })} />}
      {/* Opens with the form in it, so that the first field has the focus. */}
      <Modal opened={open && pipelines.data !== undefined} onClose={close} title="New source" size="lg">
        <NewSource pipelines={pipelines.data?.pipelines ?? []} />
      </Modal>
    </Page>
  );
}
