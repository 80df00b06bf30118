import { Button, Group, Modal, Select, Stack, Table, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { SourcePanel } from './source-panel.tsx';
import { sourcesQuery } from './sources.ts';

const KINDS = [
  { value: 'payment_processor', label: 'Payment processor (Stripe)' },
  { value: 'ecommerce_platform', label: 'E-commerce platform (Shopify)' },
  { value: 'crm', label: 'CRM (HubSpot)' },
  { value: 'form_service', label: 'Form service (Typeform)' },
  { value: 'messaging_service', label: 'Messaging service (Intercom)' },
  { value: 'custom', label: 'Anything else, with your own mapping' },
] as const;

export function SourcesPage() {
  const [open, { open: show, close }] = useNewDialog();
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
      about="Webhooks of other services that become events."
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
          Payments, orders, contacts and form answers can arrive as signed webhooks and become events of a pipeline.
        </Empty>
      ) : (
        <section className="panel" style={{ overflowX: 'auto' }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Provider</Table.Th>
                <Table.Th>Pipeline</Table.Th>
                <Table.Th visibleFrom="sm">Address</Table.Th>
                <Table.Th visibleFrom="sm">Since</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sources.data.webhook_sources.map(({ id, name, provider, pipeline_id, url, enabled, created_at }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <Link to="/sources" search={{ selected: id }}>
                      <b>{name}</b>
                    </Link>{' '}
                    {!enabled && <Tag tone="warn">disabled</Tag>}
                  </Table.Td>
                  <Table.Td>{provider}</Table.Td>
                  <Table.Td>{names.get(pipeline_id) ?? pipeline_id}</Table.Td>
                  <Table.Td visibleFrom="sm" className="mono">
                    {url}
                  </Table.Td>
                  <Table.Td visibleFrom="sm">{dateTime(created_at)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      {shown !== undefined && <SourcePanel key={shown.id} source={shown} onClose={() => void navigate({ to: '/sources', search: {} })} />}
      <Modal opened={open} onClose={close} title="New source" size="lg">
        {pipelines.data === undefined ? <Loading what="your pipelines" /> : <NewSource pipelines={pipelines.data.pipelines} />}
      </Modal>
    </Page>
  );
}

function NewSource({ pipelines }: { pipelines: readonly { id: string; name: string }[] }) {
  const queries = useQueryClient();
  const [made, setMade] = useState<{ url: string; signing_secret: string }>();
  const form = useForm({
    initialValues: {
      name: '',
      pipeline_id: pipelines[0]?.id ?? '',
      source_type: 'payment_processor' as (typeof KINDS)[number]['value'],
      signing_secret: '',
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give the source a name.' : null),
      pipeline_id: (id) => (id === '' ? 'Choose a pipeline.' : null),
    },
  });
  const create = useMutation({
    mutationFn: ({ signing_secret, ...values }: typeof form.values) =>
      call(
        api.POST('/v1/admin/webhook-sources', { body: { ...values, ...(signing_secret === '' ? {} : { signing_secret }) } as never }),
      ) as Promise<{ url: string; signing_secret: string }>,
    onSuccess: async (source) => {
      setMade(source);
      await queries.invalidateQueries({ queryKey: ['webhook-sources'] });
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'name')),
  });
  if (made !== undefined)
    return (
      <Stack gap="sm">
        <p>Enter this address at the provider:</p>
        <Json value={made.url} label="Webhook address" />
        <p>The signing secret, shown only now:</p>
        <Json value={made.signing_secret} label="Signing secret" />
      </Stack>
    );
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <Select label="Kind" allowDeselect={false} data={[...KINDS]} {...form.getInputProps('source_type')} />
        <Select
          label="Pipeline"
          allowDeselect={false}
          data={pipelines.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('pipeline_id')}
        />
        <TextInput
          label="Signing secret"
          description="The one that the provider shows. Empty makes a new one."
          autoComplete="off"
          {...form.getInputProps('signing_secret')}
        />
        <Group>
          <Button type="submit" size="sm" loading={create.isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
