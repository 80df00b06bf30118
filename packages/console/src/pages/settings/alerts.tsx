/** Alerts: what is watched, whom it tells, whether it fires now; each can be tested. */
import { Button, Group, Modal, Alert as Notice, NumberInput, Select, Stack, Switch, Table, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { ago } from '../../format.ts';
import { failureText, fieldErrors } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';

const KINDS = {
  failing: 'delivery attempts that fail',
  silent: 'too few events received',
  backlog: 'events that wait for delivery',
  dead_letters: 'dead letters',
  plan_violations: 'events that do not fit the tracking plan',
  rejected: 'rejected events',
} as const;
type Kind = keyof typeof KINDS;
type Channel = 'webhook' | 'slack' | 'email';

export function Alerts() {
  const queries = useQueryClient();
  const may = useMay('editor');
  const mayDelete = useMay('admin');
  const [open, { open: show, close }] = useNewDialog('editor');
  const alerts = useQuery({
    queryKey: ['alerts'],
    queryFn: () => call(api.GET('/v1/admin/alerts', { params: { query: { limit: 100 } } })),
  });
  const firing = useQuery({
    queryKey: ['firing-alerts'],
    queryFn: () => call(api.GET('/v1/admin/alerts/firing', {})),
    refetchInterval: 30_000,
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['alerts'] });
  const onError = (error: unknown) => notifications.show({ color: 'red', title: 'Not changed', message: failureText(error) });
  const enable = useMutation({
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) =>
      call(api.PUT('/v1/admin/alerts/{id}', { params: { path: { id } }, body: { enabled } })),
    onSettled: refresh,
    onError,
  });
  const remove = useMutation({
    mutationFn: (id: string) => call(api.DELETE('/v1/admin/alerts/{id}', { params: { path: { id } } })),
    onSettled: refresh,
    onError,
  });
  const test = useMutation({
    mutationFn: (id: string) => call(api.POST('/v1/admin/alerts/{id}/test', { params: { path: { id } } })),
    onSuccess: ({ results }) => {
      for (const { type, ok, error } of results)
        notifications.show(
          ok ? { message: `A test went out by ${type}.` } : { color: 'red', title: `Not sent by ${type}`, message: error },
        );
    },
    onError,
  });
  const now = new Map(firing.data?.alerts.map((alert) => [alert.id, alert]));
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Alerts">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Alerts</Title>
        <Button onClick={show} disabled={!may} title={may ? undefined : 'Needs the role editor'}>
          New alert
        </Button>
      </Group>
      {alerts.isPending ? (
        <Loading what="alerts" />
      ) : alerts.isError ? (
        <Failed error={alerts.error} retry={() => void alerts.refetch()} />
      ) : alerts.data.alerts.length === 0 ? (
        <Text size="sm" c="var(--dim)">
          None yet. An alert tells a webhook, Slack or an e-mail address when deliveries fail, a pipeline falls silent or dead letters pile
          up.
        </Text>
      ) : (
        <div style={{ overflowX: 'auto', position: 'relative' }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Alert</Table.Th>
                <Table.Th>Watches</Table.Th>
                <Table.Th visibleFrom="sm">Tells</Table.Th>
                <Table.Th>On</Table.Th>
                <Table.Th>
                  <span className="hidden">Actions</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {alerts.data.alerts.map(({ id, name, kind, threshold, window_minutes, channels, enabled, warnings }) => (
                <Table.Tr key={id}>
                  <Table.Td miw={120}>
                    <b>{name}</b> {now.has(id) && <Tag tone="bad">fires since {ago(now.get(id)?.since ?? '')}</Tag>}
                    {now.has(id) && <div className="dim">{now.get(id)?.message}</div>}
                  </Table.Td>
                  <Table.Td>
                    {words(kind)} {kind === 'silent' ? 'below' : 'from'} {threshold}
                    {kind === 'backlog' ? '' : ` in ${window_minutes} min`}
                  </Table.Td>
                  <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
                    {channels.map(({ type, url, to }) => `${type} ${url ?? to ?? ''}`).join(', ')}
                    {warnings.map((warning) => (
                      <div key={warning} className="dim">
                        {warning}
                      </div>
                    ))}
                  </Table.Td>
                  <Table.Td>
                    <Switch
                      aria-label={`${name} is on`}
                      checked={enabled}
                      disabled={!may}
                      onChange={({ currentTarget }) => enable.mutate({ id, enabled: currentTarget.checked })}
                    />
                  </Table.Td>
                  <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                    <Button
                      variant="subtle"
                      disabled={!may}
                      loading={test.isPending}
                      onClick={() => test.mutate(id)}
                      aria-label={`Test ${name}`}
                    >
                      Test
                    </Button>
                    <Button
                      variant="subtle"
                      color="red"
                      disabled={!mayDelete}
                      title={mayDelete ? undefined : 'Needs the role admin'}
                      aria-label={`Delete ${name}`}
                      onClick={() =>
                        modals.openConfirmModal({
                          title: `Delete ${name}?`,
                          children: 'Nobody is told of this any more.',
                          labels: { confirm: 'Delete', cancel: 'Keep' },
                          confirmProps: { color: 'red' },
                          onConfirm: () => remove.mutate(id),
                        })
                      }
                    >
                      Delete
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      <Modal opened={open} onClose={close} title="New alert">
        <NewAlert onDone={close} />
      </Modal>
    </section>
  );
}

function NewAlert({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient();
  const pipelines = useQuery(pipelinesQuery());
  const form = useForm({
    initialValues: {
      name: '',
      kind: 'failing' as Kind,
      pipeline_id: null as string | null,
      threshold: 10,
      window_minutes: 15,
      channel: 'slack' as Channel,
      address: '',
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name.' : null),
      address: (address) => (address.trim() === '' ? 'Say whom to tell.' : null),
    },
  });
  const create = useMutation({
    mutationFn: ({ channel, address, ...values }: typeof form.values) =>
      call(
        api.POST('/v1/admin/alerts', {
          body: {
            ...values,
            channels: [{ type: channel, ...(channel === 'email' ? { to: address.trim() } : { url: address.trim() }) }],
          },
        }),
      ),
    onSuccess: async () => {
      onDone();
      await queries.invalidateQueries({ queryKey: ['alerts'] });
    },
    onError: (error) =>
      form.setErrors(
        Object.fromEntries(
          Object.entries(fieldErrors(error, 'name')).map(([field, message]) => [field.startsWith('channels') ? 'address' : field, message]),
        ),
      ),
  });
  const { kind, channel } = form.values;
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" placeholder="Orders do not reach Meta" data-autofocus {...form.getInputProps('name')} />
        <Select
          label="Watch"
          allowDeselect={false}
          data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('kind')}
        />
        <Select
          label="Pipeline"
          placeholder="All pipelines"
          clearable
          data={pipelines.data?.pipelines.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          {...form.getInputProps('pipeline_id')}
        />
        <Group grow align="flex-start">
          <NumberInput label={kind === 'silent' ? 'Fewer than' : 'From'} min={0} {...form.getInputProps('threshold')} />
          {kind !== 'backlog' && <NumberInput label="In so many minutes" min={1} max={1_440} {...form.getInputProps('window_minutes')} />}
        </Group>
        <Group grow align="flex-start">
          <Select label="Tell" allowDeselect={false} data={['slack', 'webhook', 'email']} {...form.getInputProps('channel')} />
          <TextInput label={channel === 'email' ? 'E-mail address' : 'URL'} {...form.getInputProps('address')} />
        </Group>
        {create.isError && <Notice color="red">{failureText(create.error)}</Notice>}
        <Button type="submit" size="sm" loading={create.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  );
}
