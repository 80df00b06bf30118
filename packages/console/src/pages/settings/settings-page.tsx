/** The organisation, alerts, how long data is kept, and the health of the installation. */
import { Button, Group, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, call } from '../../api.ts';
import { Page } from '../../components/page.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { ago, duration, number } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { installationQuery, organisationQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { Alerts } from './alerts.tsx';
import { Processes } from './processes.tsx';
import classes from './settings.module.css';

export function SettingsPage() {
  return (
    <Page title="Settings">
      <Stack gap="md" maw={760}>
        <Organisation />
        <Alerts />
        <Installation />
      </Stack>
    </Page>
  );
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="panel" style={{ padding: 16 }} aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children}
    </section>
  );
}

function Organisation() {
  const organisation = useQuery(organisationQuery());
  return (
    <Panel title="Organisation">
      {organisation.isPending ? (
        <Loading what="the organisation" />
      ) : organisation.isError ? (
        <Failed error={organisation.error} retry={() => void organisation.refetch()} />
      ) : (
        <Rename name={organisation.data.name} />
      )}
    </Panel>
  );
}
function Rename({ name }: { name: string }) {
  const queries = useQueryClient();
  const may = useMay('admin');
  const form = useForm({ initialValues: { name } });
  const rename = useMutation({
    mutationFn: (body: { name: string }) => call(api.PUT('/v1/admin/organisation', { body })),
    onSuccess: async () => {
      notifications.show({ message: 'Saved.' });
      form.resetDirty();
      await queries.invalidateQueries({ queryKey: ['organisation'] });
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'name')),
  });
  return (
    <form onSubmit={form.onSubmit((values) => rename.mutate(values))}>
      <Group align="flex-end" gap="xs">
        <TextInput label="Name" w={320} disabled={!may} {...form.getInputProps('name')} />
        <Button
          type="submit"
          size="sm"
          loading={rename.isPending}
          disabled={!may || !form.isDirty()}
          title={may ? undefined : 'Needs the role admin'}
        >
          Save
        </Button>
      </Group>
    </form>
  );
}

const ENGINES = { sqlite: 'SQLite', postgresql: 'PostgreSQL', lmdb: 'LMDB', nats: 'NATS JetStream' } as const;

function Installation() {
  const query = useQuery({ ...installationQuery(), refetchInterval: 30_000 });
  if (query.isPending) return <Loading what="the installation" />;
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const { version, runtime, mode, processes, stores, retention, backlog, configuration_version } = query.data;
  return (
    <>
      <Panel title="Retention">
        <p className="dim">Set for the whole installation by the environment of the service, before it starts.</p>
        <Facts
          rows={[
            ['Processed events and traces', duration(retention.events_s), 'EVENT_RETENTION'],
            ['Dead letters', duration(retention.dead_letters_s), 'DEAD_LETTER_RETENTION'],
            ['Ids for deduplication', duration(retention.deduplication_s), 'DEDUP_WINDOW'],
          ]}
        />
      </Panel>
      <Panel title="Health of the installation">
        <Facts
          rows={[
            ['Version', version, runtime],
            ['Mode', mode, ''],
            ['Configuration store', ENGINES[stores.configuration.engine], `version ${number(configuration_version)}`],
            [
              'Event log',
              <span key="log">
                {ENGINES[stores.log.engine]}{' '}
                <Tag tone={stores.log.available ? 'ok' : 'bad'}>{stores.log.available ? 'available' : 'not available'}</Tag>
              </span>,
              '',
            ],
            [
              'Waiting for delivery',
              <Link key="waiting" to="/events" search={{ delivery: 'waiting' }}>
                {number(backlog.waiting)}
              </Link>,
              backlog.oldest_waiting_at === null ? 'nothing waits' : `oldest ${ago(backlog.oldest_waiting_at)}`,
            ],
          ]}
        />
        <Processes processes={processes} stores={stores} version={version} configurationVersion={configuration_version} />
      </Panel>
    </>
  );
}
function Facts({ rows }: { rows: readonly [label: string, value: ReactNode, note: string][] }) {
  return (
    <dl className={classes.facts}>
      {rows.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          <dd className="mono dim">{note}</dd>
        </div>
      ))}
    </dl>
  );
}
