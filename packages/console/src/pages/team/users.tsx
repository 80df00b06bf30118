import { Box, Button, Group, Modal, PasswordInput, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { AddressInput } from '../../components/address-input.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { RoleButton, RoleNote } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf } from '../../components/tag.tsx';
import { ago } from '../../format.ts';
import { failureText, formErrors } from '../../forms.ts';
import { nextOffset } from '../../next-offset.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { type Role, reaches, rolesToGive, roleToChange } from '../../session/roles.ts';
import { useUser } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { TokensOfUser } from './tokens-of-user.tsx';

const RIGHTS: Record<Role, string> = {
  viewer: 'Viewers read everything and change nothing.',
  editor: 'Editors change pipelines, mappings and transformations.',
  admin: 'Admins also change users and privacy, and delete.',
  owner: 'Owners may do everything, also remove other owners.',
};

const PAGE = 50;

/** Who belongs to the organisation, with which role. */
export function Users() {
  const [open, { open: show, close }] = useNewDialog('admin');
  const queries = useQueryClient();
  const me = useUser();
  const mayChange = (theirs: Role): boolean => reaches(me.role, roleToChange(theirs));
  const navigate = useNavigate();
  const { q = '' } = useSearch({ strict: false }) as { q?: string };
  const [search] = useDebouncedValue(q.trim(), 200);
  const users = useInfiniteQuery({
    queryKey: ['users', 'list', search],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(api.GET('/v1/admin/users', { params: { query: { ...(search === '' ? {} : { search }), limit: PAGE, offset: pageParam } } })),
    getNextPageParam: (last) => nextOffset(last, last.users),
    placeholderData: keepPreviousData,
  });
  /** Less rights, or none, end API tokens. */
  const refresh = () => Promise.all(['users', 'api-tokens'].map((key) => queries.invalidateQueries({ queryKey: [key] })));
  const onError = (error: unknown) => notifications.show({ color: 'red', title: 'Not changed', message: failureText(error) });
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string; role?: Role; status?: 'active' | 'disabled' }) =>
      call(api.PUT('/v1/admin/users/{id}', { params: { path: { id } }, body })),
    onSettled: refresh,
    onError,
  });
  const remove = useMutation({
    mutationFn: (id: string) => call(api.DELETE('/v1/admin/users/{id}', { params: { path: { id } } })),
    onSettled: refresh,
    onError,
  });
  const resetTotp = useMutation({
    mutationFn: (id: string) => call(api.DELETE('/v1/admin/users/{id}/totp', { params: { path: { id } } })),
    onSuccess: () => notifications.show({ message: 'Their two-step sign-in is off.' }),
    onError,
  });
  function askRole(id: string, email: string, from: Role, to: Role) {
    const who = id === me.id ? 'You' : 'They';
    openConfirmModal({
      title: id === me.id ? `Make yourself ${to}?` : `Make ${email} ${to}?`,
      children: reaches(to, from) ? (
        `${RIGHTS[to]} It applies at once.`
      ) : (
        <p>
          {RIGHTS[to]} {who} must sign in again. {id === me.id && 'Only somebody else can give the role back. '}
          <TokensOfUser userId={id} above={to} one="with more rights than that ends" several="with more rights than that end" />
        </p>
      ),
      labels: { confirm: `Make ${id === me.id ? 'me' : 'them'} ${to}`, cancel: 'Keep' },
      confirmProps: reaches(to, from) && to !== 'owner' ? {} : { color: 'red' },
      onConfirm: () => change.mutate({ id, role: to }),
    });
  }
  /** Nobody locks themselves out: one's own row has none. */
  const actions = ({ id, email, role, status }: { id: string; email: string; role: Role; status: string }) =>
    id !== me.id && (
      <>
        <RoleButton
          needs={roleToChange(role)}
          variant="subtle"
          size="compact-sm"
          onClick={() =>
            openConfirmModal({
              title: `Turn off the two-step sign-in of ${email}?`,
              children: 'For users who lost both phone and recovery codes. Until they turn it on again, their password is enough.',
              labels: { confirm: 'Turn off', cancel: 'Keep' },
              onConfirm: () => resetTotp.mutate(id),
            })
          }
        >
          Reset two-step
        </RoleButton>
        <RoleButton
          needs={roleToChange(role)}
          variant="subtle"
          size="compact-sm"
          onClick={() =>
            status === 'disabled'
              ? change.mutate({ id, status: 'active' })
              : openConfirmModal({
                  title: `Disable ${email}?`,
                  children: (
                    <p>
                      They are signed out at once and cannot sign in until you enable them again. Their history stays.{' '}
                      <TokensOfUser userId={id} one="is refused until then" several="are refused until then" />
                    </p>
                  ),
                  labels: { confirm: 'Disable', cancel: 'Keep' },
                  confirmProps: { color: 'red' },
                  onConfirm: () => change.mutate({ id, status: 'disabled' }),
                })
          }
        >
          {status === 'disabled' ? 'Enable' : 'Disable'}
        </RoleButton>
        <RoleButton
          needs={roleToChange(role)}
          variant="subtle"
          size="compact-sm"
          color="red"
          onClick={() =>
            openConfirmModal({
              title: `Remove ${email}?`,
              children: (
                <p>
                  Their sessions end at once. <TokensOfUser userId={id} one="ends for good" several="end for good" />
                </p>
              ),
              labels: { confirm: 'Remove', cancel: 'Keep' },
              confirmProps: { color: 'red' },
              onConfirm: () => remove.mutate(id),
            })
          }
        >
          Remove
        </RoleButton>
      </>
    );
  if (users.isPending) return <Loading what="the team" />;
  if (users.isLoadingError) return <Failed error={users.error} retry={() => void users.refetch()} />;
  const rows = users.data.pages.flatMap((page) => page.users);
  const total = users.data.pages[0]?.total ?? 0;
  return (
    <>
      <Text size="sm" c="var(--dim)" mb="sm">
        Viewers can read. Editors also change pipelines, mappings and transformations. Admins also manage users and privacy, and delete.
        Owners can do everything.
      </Text>
      <RoleNote needs="admin" />
      <Group justify="space-between" mb="sm">
        <AddressInput
          size="xs"
          w={200}
          aria-label="Filter users"
          placeholder="Part of the name or address"
          value={q}
          onChange={(text) => void navigate({ to: '/team', search: text === '' ? {} : { q: text }, replace: true })}
        />
        <RoleButton needs="admin" onClick={show}>
          Add a user
        </RoleButton>
      </Group>
      <section className="panel" style={{ overflowX: 'auto' }} aria-label="Users">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>User</Table.Th>
              <Table.Th>Role</Table.Th>
              <Table.Th visibleFrom="sm">Status</Table.Th>
              <Table.Th visibleFrom="sm">Last sign-in</Table.Th>
              <Table.Th visibleFrom="sm">
                <span className="hidden">Actions</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((user) => {
              const { id, email, name, role, status, last_login_at } = user;
              return (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    <b>{name === '' ? email : name}</b> {id === me.id && <Tag>you</Tag>}
                    {name !== '' && <div className="dim">{email}</div>}
                    <Box hiddenFrom="sm">
                      {status === 'disabled' && <Tag tone="warn">disabled</Tag>}
                      <div className="dim">{last_login_at === null ? 'never signed in' : `signed in ${ago(last_login_at)}`}</div>
                      <Group gap={0} ml={-8}>
                        {actions(user)}
                      </Group>
                    </Box>
                  </Table.Td>
                  <Table.Td>
                    <Select
                      size="xs"
                      w={110}
                      aria-label={`Role of ${email}`}
                      allowDeselect={false}
                      disabled={!mayChange(role)}
                      data={mayChange(role) ? rolesToGive(me.role) : [role]}
                      value={role}
                      onChange={(next) => next !== null && next !== role && askRole(id, email, role, next as Role)}
                    />
                  </Table.Td>
                  <Table.Td visibleFrom="sm">
                    <Tag tone={status === 'active' ? toneOf(status) : 'warn'}>{status}</Tag>
                  </Table.Td>
                  <Table.Td visibleFrom="sm">{last_login_at === null ? 'never' : ago(last_login_at)}</Table.Td>
                  <Table.Td visibleFrom="sm" ta="right" style={{ whiteSpace: 'nowrap' }}>
                    {actions(user)}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
        {rows.length === 0 && <Empty title="Nobody matches" action={<LinkButton to="/team">Show all users</LinkButton>} />}
      </section>
      <MoreButton shown={rows.length} total={total} query={users} />
      <Modal opened={open} onClose={close} title="Add a user">
        <NewUser onDone={close} />
      </Modal>
    </>
  );
}

function NewUser({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient();
  const me = useUser();
  const form = useForm({ initialValues: { email: '', name: '', role: 'viewer' as Role, password: '' } });
  const create = useMutation({
    mutationFn: (body: typeof form.values) => call(api.POST('/v1/admin/users', { body })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['users'] });
      onDone();
    },
    onError: (error) => form.setErrors(formErrors(error, 'email', Object.keys(form.values))),
  });
  useUnsaved(form.isDirty() && !create.isPending && !create.isSuccess);
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="E-mail address" type="email" data-autofocus autoComplete="off" {...form.getInputProps('email')} />
        <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
        <Select label="Role" allowDeselect={false} data={rolesToGive(me.role)} {...form.getInputProps('role')} />
        <PasswordInput
          label="First password"
          description="12 characters or more. They can change it after signing in."
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        <Button type="submit" size="sm" loading={create.isPending}>
          Add
        </Button>
      </Stack>
    </form>
  );
}
