import { Box, Button, Group, Modal, Select, Stack, Table, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { AddressInput } from '../../components/address-input.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { PipelineLink } from '../../components/pipeline-link.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime, number } from '../../format.ts';
import { formErrors } from '../../forms.ts';
import { nextOffset } from '../../next-offset.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { useUnsaved } from '../../use-unsaved.ts';

const PAGE = 50;
interface PipelinesSearch {
  q?: string;
  label?: string;
}

export function PipelinesPage() {
  const { q = '', label } = useSearch({ strict: false }) as PipelinesSearch;
  const navigate = useNavigate();
  const [open, { open: show, close }] = useNewDialog('editor');
  const [search] = useDebouncedValue(q.trim(), 200);
  const filter = { ...(search === '' ? {} : { search }), ...(label === undefined ? {} : { label }) };
  const pipelines = useInfiniteQuery({
    queryKey: ['pipelines', 'list', filter],
    initialPageParam: 0,
    queryFn: ({ pageParam }) => call(api.GET('/v1/admin/pipelines', { params: { query: { ...filter, limit: PAGE, offset: pageParam } } })),
    getNextPageParam: (last) => nextOffset(last, last.pipelines),
    placeholderData: keepPreviousData,
  });
  const rows = pipelines.data?.pages.flatMap((page) => page.pipelines);
  const total = pipelines.data?.pages[0]?.total ?? 0;
  const filtered = q !== '' || label !== undefined;
  /** Its one button stands in the middle of the page. */
  const isEmpty = rows?.length === 0 && !filtered;
  return (
    <Page
      title="Pipelines"
      about={pipelines.data && `${number(total)} ${filtered ? (total === 1 ? 'matches' : 'match') : 'in this organisation'}`}
      actions={
        !isEmpty && (
          <RoleButton needs="editor" onClick={show}>
            New pipeline
          </RoleButton>
        )
      }
    >
      <Group gap="xs" mb="sm">
        <AddressInput
          w={280}
          size="xs"
          aria-label="Filter pipelines"
          placeholder="Part of the name or slug"
          value={q}
          onChange={(text) =>
            void navigate({
              to: '/pipelines',
              search: (old: PipelinesSearch) => ({ ...old, q: text || undefined }),
              replace: true,
            } as never)
          }
        />
        {label !== undefined && (
          <Button
            variant="default"
            rightSection="×"
            aria-label={`Label ${label}, remove this filter`}
            onClick={() => void navigate({ to: '/pipelines', search: (old: PipelinesSearch) => ({ ...old, label: undefined }) } as never)}
          >
            Label: {label}
          </Button>
        )}
      </Group>
      {pipelines.isPending ? (
        <Loading what="pipelines" />
      ) : pipelines.isLoadingError ? (
        <Failed error={pipelines.error} retry={() => void pipelines.refetch()} />
      ) : rows === undefined || rows.length === 0 ? (
        <Empty
          title={filtered ? 'No pipeline matches' : 'No pipelines yet'}
          action={
            filtered ? (
              <Button variant="default" onClick={() => void navigate({ to: '/pipelines' })}>
                Show all pipelines
              </Button>
            ) : (
              <RoleButton needs="editor" onClick={show}>
                New pipeline
              </RoleButton>
            )
          }
        />
      ) : (
        <>
          <section className="panel" style={{ overflowX: 'auto' }} aria-label="Pipelines">
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
                      <PipelineLink pipeline={{ id, name, enabled }} />
                      <Box hiddenFrom="sm" className="dim">
                        {labels.length > 0 && <div>{labels.join(', ')}</div>}
                        <div>changed {dateTime(updated_at)}</div>
                      </Box>
                    </Table.Td>
                    <Table.Td>{type}</Table.Td>
                    <Table.Td visibleFrom="sm">
                      <Group gap={4}>
                        {labels.map((each) => (
                          <Link
                            key={each}
                            to="/pipelines"
                            search={{ ...(q === '' ? {} : { q }), label: each }}
                            style={{ textDecoration: 'none' }}
                            title={`Pipelines with the label ${each}`}
                          >
                            <Tag>{each}</Tag>
                          </Link>
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
          <MoreButton shown={rows.length} total={total} query={pipelines} />
        </>
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
    onError: (error) => form.setErrors(formErrors(error, 'name', Object.keys(form.values))),
  });
  useUnsaved(form.isDirty() && !create.isPending && !create.isSuccess);
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
