/** One source: its address or its broker, what was refused lately and why, and what a pasted payload becomes. */
import { CloseButton, Group, Switch, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { api, call } from '../../api.ts';
import { LastDay, sentText } from '../../components/last-day.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Loading, Outdated } from '../../components/states.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { ago, number, zonedTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { useMay } from '../../session/use-session.ts';
import { isBroker } from './broker-connection.tsx';
import { BrokerPanel } from './broker-panel.tsx';
import { SOURCES, type Source, sourceStatusQuery } from './sources.ts';
import { WebhookAddress } from './webhook-address.tsx';

const Payload = lazy(async () => ({ default: (await import('./payload.tsx')).Payload }));

export function SourcePanel({ source, onClose }: { source: Source; onClose: (removed?: boolean) => void }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const path = { id: source.id };
  const refused = useQuery({
    queryKey: ['dead-letter-groups', { webhook_source_id: source.id }],
    queryFn: () => call(api.GET('/v1/admin/dlq/groups', { params: { query: { webhook_source_id: source.id, limit: 10 } } })),
  });
  const status = useQuery(sourceStatusQuery(source.id));
  const refresh = () => queries.invalidateQueries({ queryKey: SOURCES });
  const onError = (error: unknown) => notifications.show({ color: 'red', title: 'Not changed', message: failureText(error) });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => call(api.PUT('/v1/admin/webhook-sources/{id}', { params: { path }, body: { enabled } })),
    onSettled: refresh,
    onError,
  });
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/webhook-sources/{id}', { params: { path } })),
    onSuccess: async () => {
      // First: a deleted source cannot be read again, and changes of it cannot be saved.
      onClose(true);
      await refresh();
    },
    onError,
  });
  const lastDay = <LastDay pipelineId={source.pipeline_id}>{sentText(source.id)}</LastDay>;
  const panel = useReturnFocus<HTMLElement>();
  return (
    <section ref={panel} className="panel" style={{ padding: 16, marginTop: 16 }} aria-label={source.name}>
      <Group justify="space-between" wrap="nowrap" mb="sm">
        <Group gap="xs">
          <Title order={2}>{source.name}</Title>
          <Switch
            label="Enabled"
            description={may ? undefined : 'Changes need the role editor.'}
            checked={source.enabled}
            disabled={!may}
            onChange={({ currentTarget }) =>
              currentTarget.checked
                ? enable.mutate(true)
                : openConfirmModal({
                    title: `Disable ${source.name}?`,
                    children: (
                      <>
                        {isBroker(source.kind)
                          ? 'Firsthand stops reading from the broker. Messages wait there, as long as the broker keeps them.'
                          : 'Webhooks to its address are refused until you enable it again. Most senders repeat them only for some hours.'}{' '}
                        {lastDay}
                      </>
                    ),
                    labels: { confirm: 'Disable', cancel: 'Keep it on' },
                    confirmProps: { color: 'red' },
                    onConfirm: () => enable.mutate(false),
                  })
            }
          />
        </Group>
        <Group gap="xs" wrap="nowrap">
          <RoleButton
            needs="admin"
            variant="subtle"
            color="red"
            loading={remove.isPending}
            onClick={() =>
              openConfirmModal({
                title: `Remove ${source.name}?`,
                children: (
                  <>
                    {isBroker(source.kind)
                      ? 'Firsthand stops reading from the broker. Events that arrived stay.'
                      : 'Webhooks to its address are refused from then on. Events that arrived stay.'}{' '}
                    {lastDay}
                  </>
                ),
                labels: { confirm: 'Remove', cancel: 'Keep it' },
                confirmProps: { color: 'red' },
                onConfirm: () => remove.mutate(),
              })
            }
          >
            Remove …
          </RoleButton>
          <CloseButton aria-label="Close" onClick={() => onClose()} />
        </Group>
      </Group>
      <Text size="sm" c="var(--dim)">
        {status.isError ? (
          `When it last received something is not known now: ${failureText(status.error)}`
        ) : status.data === undefined ? (
          'Last received …'
        ) : status.data.last_received_at === null ? (
          'Nothing was received from it yet.'
        ) : (
          <>
            Last received <span title={zonedTime(status.data.last_received_at)}>{ago(status.data.last_received_at)}</span>.{' '}
            <Link to="/events" search={{ pipeline: source.pipeline_id, source: source.id }}>
              Its events
            </Link>
          </>
        )}
      </Text>
      {isBroker(source.kind) ? <BrokerPanel source={source} kind={source.kind} /> : <WebhookAddress source={source} />}
      <Title order={3} mt="md">
        Refused lately
      </Title>
      {refused.isPending ? (
        <p className="dim">Loading …</p>
      ) : refused.isError ? (
        <Outdated what="What it refused" error={refused.error} retry={() => void refused.refetch()} />
      ) : (
        refused.data.groups.length === 0 && <p className="dim">None.</p>
      )}
      <ul style={{ margin: '4px 0', paddingLeft: 18 }}>
        {refused.data?.groups.map(({ reason, stage, pending, last_at }) => (
          <li key={`${stage} ${reason}`}>
            <Link to="/dead-letters" search={{ source: source.id, stage, reason }}>
              <Tag tone="bad">{number(pending)}</Tag> {words(reason)}
            </Link>{' '}
            <span className="dim">last {ago(last_at)}</span>
          </li>
        ))}
      </ul>
      <Title order={3} mt="md" mb="xs">
        Try a payload
      </Title>
      <Suspense fallback={<Loading what="the editor" />}>
        <Payload source={source} />
      </Suspense>
    </section>
  );
}
