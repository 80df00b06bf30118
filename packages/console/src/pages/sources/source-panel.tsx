/** One source: its address and secret, what was refused lately and why, and what a pasted payload becomes. */
import { Button, CloseButton, Group, Switch, Text, TextInput, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { ago, number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { type Source, sourcesQuery } from './sources.ts';

const Payload = lazy(async () => ({ default: (await import('./payload.tsx')).Payload }));

export function SourcePanel({ source, onClose }: { source: Source; onClose: () => void }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const mayAdmin = useMay('admin');
  const path = { id: source.id };
  const refused = useQuery({
    queryKey: ['dead-letter-groups', { webhook_source_id: source.id }],
    queryFn: () => call(api.GET('/v1/admin/dlq/groups', { params: { query: { webhook_source_id: source.id, limit: 10 } } })),
  });
  const received = useQuery({
    queryKey: ['source-events', source.pipeline_id],
    queryFn: () => call(api.GET('/v1/admin/events', { params: { query: { pipeline_id: source.pipeline_id, limit: 100 } } })),
  });
  const last = received.data?.events.find(
    (event) =>
      'event' in event && (event.event?.context as { webhook_source?: unknown } | undefined)?.webhook_source === source.source_type,
  );
  const refresh = () => queries.invalidateQueries({ queryKey: sourcesQuery.queryKey });
  const onError = (error: unknown) => notifications.show({ color: 'red', title: 'Not changed', message: failureText(error) });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => call(api.PUT('/v1/admin/webhook-sources/{id}', { params: { path }, body: { enabled } })),
    onSettled: refresh,
    onError,
  });
  const rotate = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/webhook-sources/{id}/rotate-secret', { params: { path } })),
    onError,
  });
  return (
    <section className="panel" style={{ padding: 16, marginTop: 16 }} aria-label={source.name}>
      <Group justify="space-between" wrap="nowrap" mb="sm">
        <Group gap="xs">
          <Title order={2}>{source.name}</Title>
          <Switch
            label="Enabled"
            checked={source.enabled}
            disabled={!may}
            onChange={({ currentTarget }) => enable.mutate(currentTarget.checked)}
          />
        </Group>
        <CloseButton aria-label="Close" onClick={onClose} />
      </Group>
      <Text size="sm" c="var(--dim)">
        {last === undefined ? 'No event of it among the last 100 of the pipeline.' : <>Last received {ago(last.received_at)}. </>}
        {last !== undefined && (
          <Link to="/events" search={{ selected: last.event_id }}>
            Open it
          </Link>
        )}
      </Text>
      <TextInput label="Address for the provider" readOnly value={source.url} mt="sm" maw={720} classNames={{ input: 'mono' }} />
      <Group mt="sm" gap="xs">
        <Button
          variant="default"
          loading={rotate.isPending}
          disabled={!mayAdmin}
          title={mayAdmin ? undefined : 'Needs the role admin'}
          onClick={() =>
            modals.openConfirmModal({
              title: `Make a new signing secret for ${source.name}?`,
              children: 'Webhooks signed with the old one are refused until you enter the new one at the provider.',
              labels: { confirm: 'Make a new one', cancel: 'Keep the old one' },
              onConfirm: () => rotate.mutate(),
            })
          }
        >
          Rotate the secret …
        </Button>
      </Group>
      {rotate.data !== undefined && (
        <>
          <p>The new signing secret, shown only now:</p>
          <Json value={String((rotate.data as { signing_secret?: string }).signing_secret)} label="Signing secret" />
        </>
      )}
      <Title order={3} mt="md">
        Refused lately
      </Title>
      {refused.data?.groups.length === 0 && <p className="dim">None.</p>}
      <ul style={{ margin: '4px 0', paddingLeft: 18 }}>
        {refused.data?.groups.map(({ reason, stage, pending, last_at }) => (
          <li key={`${stage} ${reason}`}>
            <Tag tone="bad">{number(pending)}</Tag>{' '}
            <Link to="/dead-letters" search={{ source: source.id, stage, reason }}>
              {reason}
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
