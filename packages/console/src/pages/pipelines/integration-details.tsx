/** One integration: its health and numbers, its settings, a test event; enable, disable, remove. */
import { Alert, Group, Switch, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { ConnectAccount } from '../../components/connect-account.tsx';
import { DeliveryEnd } from '../../components/delivery-change.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { TestEvent } from '../../components/trial-event.tsx';
import { ago, number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { catalogQuery, deadOf, deliveredOf, droppedOf, type Integration, statsQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { countedEvents, type EventsSearch } from '../events/search.ts';
import { sum } from '../home/numbers.tsx';
import { IntegrationSettings } from './integration-settings.tsx';
import classes from './integrations.module.css';

export function IntegrationDetails({ integration }: { integration: Integration }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const vendor = useQuery(catalogQuery()).data?.vendors.find(({ key }) => key === integration.vendor);
  const path = { id: integration.pipeline_id, integration_id: integration.id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['integrations', integration.pipeline_id] });
  const toggle = useMutation({
    mutationFn: (enabled: boolean) =>
      call(api.PUT('/v1/admin/pipelines/{id}/integrations/{integration_id}', { params: { path }, body: { enabled } })),
    onSuccess: async () => {
      await refresh();
      notifications.show({ message: 'Saved. The change is in force within five seconds.' });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) }),
  });
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/pipelines/{id}/integrations/{integration_id}', { params: { path } })),
    onSuccess: async () => {
      await refresh();
      void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: integration.pipeline_id }, search: { tab: 'integrations' } });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not removed', message: failureText(error) }),
  });
  const { health } = integration;
  const waiting = number(health.waiting);
  return (
    <section className={classes.details} aria-label={integration.name}>
      <Group justify="space-between" mb="sm">
        <Group gap="xs">
          <Title order={2}>{integration.name}</Title>
          {vendor !== undefined && vendor.name !== integration.name && (
            <Link to="/catalog/$vendor" params={{ vendor: integration.vendor }}>
              {vendor.name}
            </Link>
          )}
          <Tag tone={integration.enabled ? toneOf(health.status) : 'neutral'}>
            {integration.enabled ? words(health.status) : 'disabled'}
          </Tag>
        </Group>
        <Group gap="sm">
          <Switch
            label="Enabled"
            description={mayEdit ? undefined : 'Changes need the role editor.'}
            checked={integration.enabled}
            disabled={!mayEdit || toggle.isPending}
            onChange={({ currentTarget }) => {
              const enabled = currentTarget.checked;
              if (enabled) return toggle.mutate(enabled);
              openConfirmModal({
                title: `Disable ${integration.name}?`,
                children: (
                  <DeliveryEnd integrationId={integration.id}>
                    {`Events that arrive while it is disabled are dropped with the reason “integration disabled”; ${waiting} waiting events stay queued. A history replay can fetch them later.`}
                  </DeliveryEnd>
                ),
                labels: { confirm: 'Disable', cancel: 'Keep it enabled' },
                onConfirm: () => toggle.mutate(enabled),
              });
            }}
          />
          <RoleButton
            needs="admin"
            variant="subtle"
            color="red"
            onClick={() =>
              openConfirmModal({
                title: `Remove ${integration.name} from this pipeline?`,
                children: (
                  <DeliveryEnd integrationId={integration.id}>
                    {`${waiting} waiting events end undelivered with the reason “integration deleted”. The template and its revisions stay.`}
                  </DeliveryEnd>
                ),
                labels: { confirm: 'Remove', cancel: 'Keep' },
                confirmProps: { color: 'red' },
                onConfirm: () => remove.mutate(),
              })
            }
          >
            Remove …
          </RoleButton>
        </Group>
      </Group>
      {health.warnings.map((warning) => (
        <Alert key={warning} color="yellow" mb="sm">
          {warning}
        </Alert>
      ))}
      {health.last_error !== null && (
        <Alert
          color={health.status === 'ok' ? 'gray' : 'red'}
          mb="sm"
          title={health.status === 'ok' ? 'Last error, delivered again since' : 'Last error'}
        >
          <span className="mono">{health.last_error}</span>
        </Alert>
      )}
      <Numbers integration={integration} />
      <div className={classes.settings}>
        <IntegrationSettings integration={integration} />
        <section className="panel" style={{ padding: 16 }} aria-label="Try it">
          <Title order={3} mb={4}>
            Try it
          </Title>
          <TestEvent
            key={String(vendor === undefined)}
            about={`One real request: a sample order goes to ${integration.name} through revision ${integration.revision_number}, without filter or consent gate.`}
            testMode={vendor?.test_mode ?? null}
            retry={3}
            send={(body) =>
              call(api.POST('/v1/admin/pipelines/{id}/integrations/{integration_id}/test', { params: { path }, body: body as never }))
            }
          />
          {vendor?.see_it != null && (
            <Text size="sm" c="var(--dim)" mt="xs">
              Where it shows: {vendor.see_it}
            </Text>
          )}
          {vendor?.connect != null && (
            <div style={{ marginTop: 16 }}>
              <ConnectAccount
                integrationId={integration.id}
                about={`For another account, or after the token was revoked: authorise your OAuth client at ${vendor.name} again. The token comes in a new revision, which is pinned.`}
              />
            </div>
          )}
        </section>
      </div>
    </section>
  );
}

/** What waits now has no time. */
const countedIn = (search: EventsSearch) => (search.delivery === 'waiting' ? search : countedEvents({ ...search, range: '24h' }));

/** The last 24 hours. Each number leads to its events. */
function Numbers({ integration: { id, pipeline_id, health } }: { integration: Integration }) {
  const { data, isError } = useQuery(statsQuery('24h', { integration_id: id }));
  const events = (delivery: string) => ({
    to: '/events' as const,
    search: countedIn({ pipeline: pipeline_id, integration: id, delivery }) as never,
  });
  const totals = data?.totals;
  const shown = (count: number | undefined) => (count === undefined ? (isError ? '?' : '…') : number(count));
  const dead = totals && deadOf(totals);
  return (
    <Stats>
      <Stat
        label="Delivered in 24 h"
        value={shown(totals && deliveredOf(totals))}
        note={health.last_success_at === null ? 'never yet' : `last ${ago(health.last_success_at)}`}
        link={events('delivered')}
      />
      <Stat label="Dropped in 24 h" value={shown(totals && sum(droppedOf(totals)))} note="by your rules" link={events('dropped')} />
      <Stat
        label="Waiting now"
        value={number(health.waiting)}
        note={health.oldest_waiting_at === null ? 'to be delivered' : `oldest ${ago(health.oldest_waiting_at)}`}
        link={events('waiting')}
      />
      <Stat
        label="Dead letters in 24 h"
        value={shown(dead)}
        note="given up"
        tone={dead !== undefined && dead > 0 ? 'bad' : undefined}
        // Not the dead letters: those of events that failed in processing have no integration.
        link={events('dead_lettered')}
      />
    </Stats>
  );
}
