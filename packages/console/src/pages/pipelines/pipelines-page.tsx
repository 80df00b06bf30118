import { Button, Group, Modal, Select, Stack, Table, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime, number } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';

export function PipelinesPage() {
  const { q = '' } = useSearch({ strict: false }) as { q?: string };
  const navigate = useNavigate();
  const [open, { open: show, close }] = useNewDialog('editor');
  const may = useMay('editor');
  const pipelines = useQuery(pipelinesQuery());
  const wanted = q.toLowerCase();
  const rows = pipelines.data?.pipelines.filter(({ name, slug, labels }) =>
    [name, slug, ...labels].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <Page
      title="Pipelines"
      about={pipelines.data && `${number(pipelines.data.total)} in this organisation`}
      actions={
        <Button onClick={show} disabled={!may} title={may ? undefined : 'Needs the role editor'}>
          New pipeline
        </Button>
      }
    >
      <TextInput
        mb="sm"
        w={280}
        size="xs"
        aria-label="Filter pipelines"
        placeholder="Name, slug or label"
        value={q}
        onChange={({ currentTarget }) =>
          void navigate({ to: '/pipelines', search: currentTarget.value === '' ? {} : { q: currentTarget.value }, replace: true })
        }
      />
      {pipelines.isPending ? (
        <Loading what="pipelines" />
      ) : pipelines.isError ? (
        <Failed error={pipelines.error} retry={() => void pipelines.refetch()} />
      ) : rows === undefined || rows.length === 0 ? (
        <Empty title={q === '' ? 'No pipelines yet' : 'No pipeline matches'} />
      ) : (
        <section className="panel" style={{ overflowX: 'auto' }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Type</Table.Th>
                <Table.Th visibleFrom="sm">Labels</Table.Th>
                <Table.Th visibleFrom="sm">Key</Table.Th>
                <Table.Th visibleFrom="sm">Changed</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ id, name, type, labels, pipeline_key, enabled, updated_at }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <Link to="/pipelines/$pipelineId" params={{ pipelineId: id }}>
                      <b>{name}</b>
                    </Link>{' '}
                    {!enabled && <Tag tone="warn">disabled</Tag>}
                  </Table.Td>
                  <Table.Td>{type}</Table.Td>
                  <Table.Td visibleFrom="sm">
                    <Group gap={4}>
                      {labels.map((label) => (
                        <Tag key={label}>{label}</Tag>
                      ))}
                    </Group>
                  </Table.Td>
                  <Table.Td visibleFrom="sm" className="mono">
                    {pipeline_key.slice(0, 10)}…
                  </Table.Td>
                  <Table.Td visibleFrom="sm">{dateTime(updated_at)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      <Modal opened={open} onClose={close} title="New pipeline">
        <NewPipeline onMade={(id) => void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: id } })} />
      </Modal>
    </Page>
  );
}

function NewPipeline({ onMade }: { onMade: (id: string) => void }) {
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { name: '', type: 'web' as 'web' | 'app' | 'server', domain_allowlist: [] as string[], labels: [] as string[] },
    validate: { name: (name) => (name.trim() === '' ? 'Give the pipeline a name.' : null) },
  });
  const create = useMutation({
    mutationFn: (body: typeof form.values) => call(api.POST('/v1/admin/pipelines', { body })),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['pipelines'] });
      onMade(made.id);
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'name')),
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <Select label="Type" allowDeselect={false} data={['web', 'app', 'server']} {...form.getInputProps('type')} />
        <TagsInput
          label="Domains that may send events"
          description="For example shop.example or *.shop.example. Empty allows every origin."
          {...form.getInputProps('domain_allowlist')}
        />
        <TagsInput label="Labels" description="For example env:production" {...form.getInputProps('labels')} />
        <Button type="submit" size="sm" loading={create.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  );
}
