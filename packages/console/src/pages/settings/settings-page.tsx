/** The organisation, alerts, how long data is kept, and the health of the installation. */
import { Group, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict } from '../../components/conflict.tsx';
import { Page } from '../../components/page.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { ago, duration, number } from '../../format.ts';
import { formErrors } from '../../forms.ts';
import { installationQuery, organisationQuery } from '../../queries.ts';
import { savePart } from '../../save-part.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
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
      ) : organisation.isLoadingError ? (
        <Failed error={organisation.error} retry={() => void organisation.refetch()} />
      ) : (
        <Rename organisation={organisation.data} />
      )}
    </Panel>
  );
}
interface Named {
  name: string;
  updated_at: string;
}
function Rename({ organisation }: { organisation: Named }) {
  const queries = useQueryClient();
  const may = useMay('admin');
  /** The version that the form started from. */
  const [base, setBase] = useState(organisation);
  const [theirs, setTheirs] = useState<Named>();
  const form = useForm({ initialValues: { name: organisation.name } });
  useUnsaved(form.isDirty());
  /** What was typed after `sent` stays. */
  function startFrom(next: Named, sent: typeof form.values) {
    const stored = { name: next.name };
    setBase(next);
    setTheirs(undefined);
    form.setInitialValues(stored);
    form.setValues((now) => afterSave(sent, now as typeof form.values, stored));
    return queries.invalidateQueries({ queryKey: ['organisation'] });
  }
  const rename = useMutation({
    mutationFn: ({ values, since }: { values: typeof form.values; since: Named }) =>
      savePart<Named>({
        base: since,
        part: ({ name }) => name,
        put: (updatedAt) => call(api.PUT('/v1/admin/organisation', { params: { header: { 'if-match': updatedAt } }, body: values })),
        read: () => call(api.GET('/v1/admin/organisation', {})),
      }),
    onSuccess: async (answer, { values: sent }) => {
      if (answer.kind === 'conflict') return setTheirs(answer.theirs);
      notifications.show({ message: 'Saved.' });
      await startFrom(answer.stored, sent);
    },
    onError: (error) => form.setErrors(formErrors(error, 'name', Object.keys(form.values))),
  });
  return (
    <form onSubmit={form.onSubmit((values) => rename.mutate({ values, since: base }))}>
      {theirs !== undefined && (
        <Conflict
          what="the organisation"
          theirs={theirs.name}
          mine={form.values.name}
          busy={rename.isPending}
          onTakeTheirs={() => void startFrom(theirs, form.values)}
          onKeepMine={() => rename.mutate({ values: form.values, since: theirs })}
        />
      )}
      <Group align="flex-end" gap="xs">
        <TextInput label="Name" w={320} disabled={!may} {...form.getInputProps('name')} />
        <RoleButton needs="admin" type="submit" size="sm" loading={rename.isPending} disabled={!form.isDirty() || theirs !== undefined}>
          Save
        </RoleButton>
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
