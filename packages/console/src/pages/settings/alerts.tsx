/** Alerts: what is watched, whom it tells, whether it fires now; each can be tested. */
import { Group, Modal, Switch, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';
import { Message } from '../../components/message.tsx';
import { RoleButton, RoleNote } from '../../components/role-button.tsx';
import { Failed, Loading, Outdated } from '../../components/states.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { ago, number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { useIntegrationNames, usePipelineNames } from '../../names.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { useMay } from '../../session/use-session.ts';
import { useNewDialog } from '../../use-new-dialog.ts';
import { AlertForm } from './alert-form.tsx';
import { countedBy, countOf, type Fired } from './counted-by.ts';
import classes from './settings.module.css';

export function Alerts() {
  const queries = useQueryClient();
  const may = useMay('editor');
  const [open, { open: show, close }] = useNewDialog('editor');
  const alerts = useQuery({
    queryKey: ['alerts'],
    queryFn: () =>
      allPages(async (offset) => {
        const page = await call(api.GET('/v1/admin/alerts', { params: { query: { limit: 100, offset } } }));
        return { ...page, rows: page.alerts };
      }),
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
  const navigate = useNavigate();
  const { alert: editedId } = useSearch({ strict: false }) as { alert?: string };
  const listed = alerts.data?.find(({ id }) => id === editedId);
  /** As it was when its form was opened. A newer version, a colleague who deletes it, or a lowered role must not take what was typed. */
  const [edited, setEdited] = useState<typeof listed>();
  if (edited?.id !== editedId && (editedId === undefined || (may && listed !== undefined))) setEdited(listed);
  const stopEditing = () => void navigate({ to: '/settings', search: {} });
  const pipelines = usePipelineNames(alerts.data?.flatMap(({ pipeline_id }) => pipeline_id ?? []) ?? []);
  const integrations = useIntegrationNames(alerts.data?.flatMap(({ integration_id }) => integration_id ?? []) ?? []);
  const now = new Map(firing.data?.alerts.map((alert) => [alert.id, alert]));
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Alerts">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Alerts</Title>
        <RoleButton needs="editor" onClick={show}>
          New alert
        </RoleButton>
      </Group>
      <RoleNote needs="editor" />
      {alerts.isRefetchError && <Outdated what="The alerts" error={alerts.error} retry={() => void alerts.refetch()} />}
      {alerts.isPending ? (
        <Loading what="alerts" />
      ) : alerts.isLoadingError ? (
        <Failed error={alerts.error} retry={() => void alerts.refetch()} />
      ) : alerts.data.length === 0 ? (
        <Text size="sm" c="var(--dim)">
          None yet. An alert tells a webhook, Slack or an e-mail address when deliveries fail, a pipeline falls silent or dead letters pile
          up.
        </Text>
      ) : (
        <ul className={classes.alerts}>
          {alerts.data.map(({ id, name, kind, threshold, window_minutes, pipeline_id, integration_id, channels, enabled, warnings }) => (
            <li key={id} aria-label={name}>
              <div className={classes.alert}>
                <div>
                  <b>{name}</b> {now.has(id) && <Tag tone="bad">firing for {ago(now.get(id)?.since ?? '').replace(' ago', '')}</Tag>}
                  <div>
                    {words(kind)}: {kind === 'silent' ? 'fewer than' : 'at least'} {number(threshold)}
                    {kind === 'backlog' ? '' : ` within ${window_minutes} min`}{' '}
                    <span className="dim">
                      {integration_id !== null
                        ? `at ${integrations.get(integration_id) ?? integration_id}`
                        : pipeline_id !== null
                          ? `in ${pipelines.get(pipeline_id) ?? pipeline_id}`
                          : 'in every pipeline'}
                    </span>
                  </div>
                  <div className="dim">tells {channels.map(shortChannel).join(', ')}</div>
                </div>
                <Switch
                  aria-label={`${name} is on`}
                  checked={enabled}
                  disabled={!may}
                  onChange={({ currentTarget }) => enable.mutate({ id, enabled: currentTarget.checked })}
                />
              </div>
              <Firing alert={now.get(id)} windowMinutes={window_minutes} />
              {warnings.map((warning) => (
                <div key={warning} className={classes.warning}>
                  {warning}
                </div>
              ))}
              <Group gap={4} mt={4} ml={-8}>
                <RoleButton
                  needs="editor"
                  variant="subtle"
                  size="compact-sm"
                  onClick={() => void navigate({ to: '/settings', search: { alert: id } })}
                  aria-label={`Change ${name}`}
                >
                  Change
                </RoleButton>
                <RoleButton
                  needs="editor"
                  variant="subtle"
                  size="compact-sm"
                  loading={test.isPending && test.variables === id}
                  onClick={() => test.mutate(id)}
                  aria-label={`Test ${name}`}
                >
                  Test
                </RoleButton>
                <RoleButton
                  needs="admin"
                  variant="subtle"
                  size="compact-sm"
                  color="red"
                  aria-label={`Delete ${name}`}
                  onClick={() =>
                    openConfirmModal({
                      title: `Delete ${name}?`,
                      children: 'Nobody is told of this any more.',
                      labels: { confirm: 'Delete', cancel: 'Keep' },
                      confirmProps: { color: 'red' },
                      onConfirm: () => remove.mutate(id),
                    })
                  }
                >
                  Delete
                </RoleButton>
              </Group>
            </li>
          ))}
        </ul>
      )}
      <Modal opened={open} onClose={close} title="New alert" size="lg">
        <AlertForm onDone={close} />
      </Modal>
      <Modal opened={edited !== undefined} onClose={stopEditing} title="Change the alert" size="lg">
        {edited !== undefined && <AlertForm key={edited.id} alert={edited} onDone={stopEditing} />}
      </Modal>
    </section>
  );
}

/** `Slack hooks.slack.com`: the whole address stands in the form, because whoever knows it can post there. */
function shortChannel({ type, url, to }: { type: string; url?: string; to?: string }): string {
  const name = { slack: 'Slack', webhook: 'a webhook', email: '' }[type] ?? type;
  const address = to ?? (url !== undefined && URL.canParse(url) ? new URL(url).host : (url ?? ''));
  return `${name} ${address}`.trim();
}

interface FiringProps {
  alert: (Omit<Fired, 'window_minutes'> & { message: string; event_id: string | null }) | undefined;
  windowMinutes: number;
}
/** What happens now, with the way to what it counts, and the event with which it began. */
function Firing({ alert, windowMinutes }: FiringProps) {
  if (alert === undefined) return null;
  const { count, rest } = countOf(alert.message);
  return (
    <div className="dim">
      <Link {...(countedBy({ ...alert, window_minutes: windowMinutes }) as { to: string })}>{count}</Link>
      <Message text={rest} />{' '}
      {alert.event_id !== null && (
        <Link to="/events" search={{ selected: alert.event_id }}>
          The {alert.kind === 'backlog' ? 'oldest' : 'first'} event
        </Link>
      )}
    </div>
  );
}
