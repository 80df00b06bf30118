/** Tokens for machines. A token is shown once, when it is made. */
import { Alert, Box, Button, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { PipelinesSelect } from '../../components/server-select.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { ago, dateTime } from '../../format.ts';
import { failureText, formErrors } from '../../forms.ts';
import { usePipelineNames } from '../../names.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { apiTokensQuery } from '../../queries.ts';
import type { Role } from '../../session/session.ts';
import { useMay } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { useUnsaved } from '../../use-unsaved.ts';

/** A token that ends within this time is marked, and listed on Home. */
const SOON_MS = 14 * 86_400_000;

export function ApiTokens() {
  const [open, { open: show, close }] = useNewDialog('admin');
  const queries = useQueryClient();
  const may = useMay('admin');
  const tokens = useQuery({ ...apiTokensQuery(), enabled: may });
  const names = usePipelineNames(tokens.data?.flatMap(({ pipeline_ids }) => pipeline_ids ?? []) ?? []);
  const pipelinesOf = (ids: readonly string[] | null): string =>
    ids === null ? 'all' : ids.map((one) => names.get(one) ?? one).join(', ');
  const revoke = useMutation({
    mutationFn: (id: string) => call(api.DELETE('/v1/admin/api-tokens/{id}', { params: { path: { id } } })),
    onSettled: () => Promise.all(['api-tokens', 'attention'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
    onError: (error) => notifications.show({ color: 'red', title: 'Not revoked', message: failureText(error) }),
  });
  if (!may)
    return (
      <Empty title="Needs the role admin" action={<LinkButton to="/team">See who is an administrator</LinkButton>}>
        API tokens are managed by administrators.
      </Empty>
    );
  if (tokens.isPending) return <Loading what="API tokens" />;
  if (tokens.isLoadingError) return <Failed error={tokens.error} retry={() => void tokens.refetch()} />;
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="var(--dim)" maw={640}>
          For deployments and scripts: <code>Authorization: Bearer fht_…</code>. A token ends with the user who made it.
        </Text>
        {tokens.data.length > 0 && <Button onClick={show}>New token</Button>}
      </Group>
      {tokens.data.length === 0 ? (
        <Empty title="No API tokens" action={<Button onClick={show}>New token</Button>}>
          One lets a script or a deployment call the management API without a person’s password.
        </Empty>
      ) : (
        <section className="panel" style={{ overflowX: 'auto' }} aria-label="API tokens">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Role</Table.Th>
                <Table.Th visibleFrom="sm">Pipelines</Table.Th>
                <Table.Th visibleFrom="sm">Made by</Table.Th>
                <Table.Th visibleFrom="sm">Last used</Table.Th>
                <Table.Th visibleFrom="sm">Ends</Table.Th>
                <Table.Th>
                  <span className="hidden">Actions</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {tokens.data.map(({ id, name, role, pipeline_ids, token_prefix, created_by_email, last_used_at, expires_at }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <b>{name}</b> <span className="mono dim">{token_prefix}…</span>
                    <Box hiddenFrom="sm" className="dim">
                      <div>pipelines: {pipelinesOf(pipeline_ids)}</div>
                      <div>made by: {created_by_email}</div>
                      <div>used: {last_used_at === null ? 'never' : ago(last_used_at)}</div>
                      <div>
                        ends: <Ending at={expires_at} />
                      </div>
                    </Box>
                  </Table.Td>
                  <Table.Td>
                    <Tag>{role}</Tag>
                  </Table.Td>
                  <Table.Td visibleFrom="sm">{pipelinesOf(pipeline_ids)}</Table.Td>
                  <Table.Td visibleFrom="sm">{created_by_email}</Table.Td>
                  <Table.Td visibleFrom="sm">{last_used_at === null ? 'never' : ago(last_used_at)}</Table.Td>
                  <Table.Td visibleFrom="sm">
                    <Ending at={expires_at} />
                  </Table.Td>
                  <Table.Td ta="right">
                    <Button
                      variant="subtle"
                      color="red"
                      aria-label={`Revoke ${name}`}
                      onClick={() =>
                        openConfirmModal({
                          title: `Revoke ${name}?`,
                          children: `Whatever uses it is refused at once, on every process. It was ${last_used_at === null ? 'never used' : `last used ${ago(last_used_at)}`}.`,
                          labels: { confirm: 'Revoke', cancel: 'Keep' },
                          confirmProps: { color: 'red' },
                          onConfirm: () => revoke.mutate(id),
                        })
                      }
                    >
                      Revoke
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      <Modal opened={open} onClose={close} title="New API token">
        <NewToken onDone={close} />
      </Modal>
    </>
  );
}

function Ending({ at }: { at: string | null }) {
  if (at === null) return 'never';
  const left = Date.parse(at) - Date.now();
  if (left < 0) return <Tag tone="bad">expired</Tag>;
  return (
    <>
      {dateTime(at)} {left < SOON_MS && <Tag tone="warn">soon</Tag>}
    </>
  );
}

const LIFETIMES = { '30': '30 days', '90': '90 days', '365': 'one year', never: 'no end' } as const;

function NewToken({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient();
  const isOwner = useMay('owner');
  const form = useForm({
    initialValues: { name: '', role: 'editor' as Role, pipeline_ids: [] as string[], lifetime: '90' },
    validate: { name: (name) => (name.trim() === '' ? 'Say what it is for.' : null) },
  });
  const create = useMutation({
    mutationFn: ({ name, role, pipeline_ids, lifetime }: typeof form.values) =>
      call(
        api.POST('/v1/admin/api-tokens', {
          body: {
            name: name.trim(),
            role,
            ...(pipeline_ids.length === 0 ? {} : { pipeline_ids }),
            ...(lifetime === 'never' ? {} : { expires_at: new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString() }),
          },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['api-tokens'] }),
    onError: (error) => form.setErrors(formErrors(error, 'name', Object.keys(form.values))),
  });
  useUnsaved(form.isDirty() && !create.isPending && !create.isSuccess);
  if (create.data !== undefined)
    return (
      <Stack gap="sm">
        <Alert color="yellow">Copy it now: it is shown this once and cannot be read again.</Alert>
        <Json value={create.data.token} label="The API token" />
        <Group justify="flex-end">
          <Button onClick={onDone}>Done</Button>
        </Group>
      </Stack>
    );
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" description="What uses it, for example: deployment" data-autofocus {...form.getInputProps('name')} />
        <Select
          label="Role"
          allowDeselect={false}
          data={['viewer', 'editor', 'admin', ...(isOwner ? ['owner'] : [])]}
          {...form.getInputProps('role')}
        />
        <PipelinesSelect label="Only for these pipelines" description="Empty: for everything." {...form.getInputProps('pipeline_ids')} />
        <Select
          label="Ends after"
          allowDeselect={false}
          data={Object.entries(LIFETIMES).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('lifetime')}
        />
        <Button type="submit" size="sm" loading={create.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  );
}
