/** The integrations of a pipeline: health, consent, limits, pinned revision; enable, disable, send a test event, remove. */
import { Alert, Button, Group, Modal, NumberInput, Stack, Switch, TagsInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict } from '../../components/conflict.tsx';
import { ConsentCategorySelect } from '../../components/consent-category-select.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf } from '../../components/tag.tsx';
import { UseTemplate } from '../../components/use-template.tsx';
import { ago, number } from '../../format.ts';
import { failureText, fieldErrors } from '../../forms.ts';
import { type Integration, integrationsQuery } from '../../queries.ts';
import { savePart } from '../../save-part.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import classes from './integrations.module.css';

export function Integrations({ pipelineId }: { pipelineId: string }) {
  const { integration: chosen } = useSearch({ strict: false }) as { integration?: string };
  const integrations = useQuery(integrationsQuery(pipelineId));
  if (integrations.isPending) return <Loading what="integrations" />;
  if (integrations.isLoadingError) return <Failed error={integrations.error} retry={() => void integrations.refetch()} />;
  const list = integrations.data.integrations;
  if (list.length === 0)
    return (
      <Empty
        title="No integrations yet"
        action={
          <Group gap="sm">
            <Link to="/catalog">Open the catalog</Link>
            <UseInstalled pipelineId={pipelineId} />
          </Group>
        }
      >
        Events of this pipeline are processed and kept, and go nowhere.
      </Empty>
    );
  const open = list.find(({ id }) => id === chosen) ?? list[0];
  return (
    <div className={classes.columns}>
      <nav className="panel" aria-label="Integrations" style={{ padding: 8, alignSelf: 'start' }}>
        {list.map(({ id, name, enabled, health }) => (
          <Link
            key={id}
            to="/pipelines/$pipelineId"
            params={{ pipelineId }}
            search={{ tab: 'integrations', integration: id }}
            style={{
              display: 'flex',
              justifyContent: 'space-between',
              padding: '7px 10px',
              borderRadius: 6,
              textDecoration: 'none',
              color: 'var(--ink)',
              background: id === open?.id ? 'var(--accent-soft)' : undefined,
            }}
          >
            <span>{name}</span>
            <Tag tone={enabled ? toneOf(health.status) : 'neutral'}>{enabled ? health.status : 'disabled'}</Tag>
          </Link>
        ))}
        <div style={{ padding: '8px 2px 2px' }}>
          <UseInstalled pipelineId={pipelineId} />
        </div>
      </nav>
      {open !== undefined && <Details key={open.id} integration={open} />}
    </div>
  );
}
/** What is installed already, for instance an account that was connected after its installation. */
function UseInstalled({ pipelineId }: { pipelineId: string }) {
  const [open, { open: show, close }] = useDisclosure();
  return (
    <>
      <RoleButton needs="editor" variant="default" onClick={show}>
        Use a template …
      </RoleButton>
      <Modal opened={open} onClose={close} title="Use a template">
        <UseTemplate pipelineId={pipelineId} onDone={close} />
      </Modal>
    </>
  );
}

/** The form's fields; an empty number is none. */
const settingsOf = (integration: Integration) => ({
  consent_category: integration.consent_category,
  revision_number: integration.revision_number,
  event_names: integration.event_filter?.event_names ?? [],
  rate_limit_rps: integration.rate_limit_rps ?? '',
  rate_limit_daily: integration.rate_limit_daily ?? '',
  max_in_flight: integration.max_in_flight ?? '',
  max_deliverers: integration.max_deliverers,
});
type Settings = ReturnType<typeof settingsOf>;

/** The named fields as the API takes them. */
function changesOf(values: Settings, names: (keyof Settings)[]): Record<string, unknown> {
  const { event_names, ...others } = values;
  const changed = Object.entries(others).filter(([name]) => names.includes(name as keyof Settings));
  return {
    ...Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value])),
    ...(names.includes('event_names') ? { event_filter: event_names.length === 0 ? null : { event_names } } : {}),
  };
}

function Details({ integration }: { integration: Integration }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const path = { id: integration.pipeline_id, integration_id: integration.id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['integrations', integration.pipeline_id] });
  const form = useForm({ initialValues: settingsOf(integration) });
  const dirty = form.isDirty();
  useUnsaved(dirty);
  /** The version that the form started from. */
  const [base, setBase] = useState(integration);
  const [theirs, setTheirs] = useState<Integration>();
  // What others changed appears here, unless something of our own is not saved yet.
  const { setInitialValues, reset } = form;
  useEffect(() => {
    if (dirty) return;
    setBase(integration);
    setTheirs(undefined);
    setInitialValues(settingsOf(integration));
    reset();
  }, [integration, dirty, setInitialValues, reset]);
  const changed = (Object.keys(form.values) as (keyof Settings)[]).filter((name) => form.isDirty(name));
  const put = (body: Record<string, unknown>, header: { 'if-match'?: string } = {}) =>
    call(api.PUT('/v1/admin/pipelines/{id}/integrations/{integration_id}', { params: { path, header }, body: body as never }));
  const saved = async () => {
    await refresh();
    notifications.show({ message: 'Saved. The change is in force within five seconds.' });
  };
  const notSaved = (error: unknown) => notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) });
  const save = useMutation({
    // Only what was changed here: the rest may have been changed elsewhere in the meantime.
    mutationFn: ({ values, since }: { values: Settings; since: Integration }) =>
      savePart({
        base: since,
        part: (version) => changesOf(settingsOf(version), changed),
        put: (updatedAt) => put(changesOf(values, changed), { 'if-match': updatedAt }),
        read: () => call(api.GET('/v1/admin/pipelines/{id}/integrations/{integration_id}', { params: { path } })),
      }),
    onSuccess: async (answer, { values: sent }) => {
      if (answer.kind === 'conflict') {
        setTheirs(answer.theirs);
        return await refresh();
      }
      await saved();
      setBase(answer.stored);
      setTheirs(undefined);
      const stored = settingsOf(answer.stored);
      form.setInitialValues(stored);
      form.setValues((now) => afterSave(sent, now as Settings, stored));
    },
    onError: (error) => {
      form.setErrors(fieldErrors(error, 'revision_number'));
      notSaved(error);
    },
  });
  const toggle = useMutation({ mutationFn: (enabled: boolean) => put({ enabled }), onSuccess: saved, onError: notSaved });
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/pipelines/{id}/integrations/{integration_id}', { params: { path } })),
    onSuccess: async () => {
      await refresh();
      void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: integration.pipeline_id }, search: { tab: 'integrations' } });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not removed', message: failureText(error) }),
  });
  const { health, latest_revision_number: latest } = integration;
  return (
    <section className="panel" style={{ padding: 16, minWidth: 0 }} aria-label={integration.name}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={650} size="lg">
            {integration.name}
          </Text>
          <Tag>{integration.vendor}</Tag>
          <Tag tone={toneOf(health.status)}>{health.status}</Tag>
        </Group>
        <Switch
          label="Enabled"
          description={mayEdit ? undefined : 'Changes need the role editor.'}
          checked={integration.enabled}
          disabled={!mayEdit || toggle.isPending}
          onChange={({ currentTarget }) => {
            const enabled = currentTarget.checked;
            if (enabled) return toggle.mutate(enabled);
            modals.openConfirmModal({
              title: `Disable ${integration.name}?`,
              children: `Events that arrive while it is disabled are dropped with the reason “integration disabled”; ${number(health.waiting)} waiting events stay queued. A history replay can fetch them later.`,
              labels: { confirm: 'Disable', cancel: 'Keep it enabled' },
              onConfirm: () => toggle.mutate(enabled),
            });
          }}
        />
      </Group>
      {health.warnings.map((warning) => (
        <Alert key={warning} color="yellow" mt="sm">
          {warning}
        </Alert>
      ))}
      {health.last_error !== null && (
        <Alert color={health.status === 'ok' ? 'gray' : 'red'} mt="sm" title="Last error">
          <span className="mono">{health.last_error}</span>
        </Alert>
      )}
      <Group gap="xl" mt="sm">
        <span>
          <span className="dim">Last delivered</span> {health.last_success_at === null ? 'never' : ago(health.last_success_at)}
        </span>
        <span>
          <span className="dim">Waiting</span>{' '}
          <Link to="/events" search={{ pipeline: integration.pipeline_id, integration: integration.id, delivery: 'waiting' }}>
            {number(health.waiting)}
          </Link>
          {health.oldest_waiting_at !== null && `, oldest ${ago(health.oldest_waiting_at)}`}
        </span>
      </Group>
      {theirs !== undefined && (
        <Conflict
          what={integration.name}
          theirs={changesOf(settingsOf(theirs), changed)}
          mine={changesOf(form.values, changed)}
          busy={save.isPending}
          onTakeTheirs={reset}
          onKeepMine={() => save.mutate({ values: form.values, since: theirs })}
        />
      )}
      <form onSubmit={form.onSubmit((values) => save.mutate({ values, since: base }))}>
        <Stack gap="sm" mt="sm" maw={520}>
          <ConsentCategorySelect
            label="Consent category"
            description="Events without this consent are dropped for this integration."
            placeholder="None: all events are delivered"
            disabled={!mayEdit}
            {...form.getInputProps('consent_category')}
          />
          <NumberInput
            label="Pinned revision"
            description={latest > integration.revision_number ? `Revision ${latest} is newer.` : 'The newest revision.'}
            min={1}
            max={latest}
            disabled={!mayEdit}
            {...form.getInputProps('revision_number')}
          />
          <TagsInput
            label="Only these events"
            description="Track names, or @page, @identify, @group. Empty delivers every event."
            disabled={!mayEdit}
            {...form.getInputProps('event_names')}
          />
          <fieldset className={classes.limits}>
            <legend>Limits</legend>
            <NumberInput
              label="Requests/s"
              placeholder="the vendor’s"
              min={1}
              disabled={!mayEdit}
              {...form.getInputProps('rate_limit_rps')}
            />
            <NumberInput label="Requests/day" placeholder="none" min={0} disabled={!mayEdit} {...form.getInputProps('rate_limit_daily')} />
            <NumberInput
              label="In flight"
              placeholder="the vendor’s"
              min={1}
              max={256}
              disabled={!mayEdit}
              {...form.getInputProps('max_in_flight')}
            />
            <NumberInput label="Deliverers" min={1} max={16} disabled={!mayEdit} {...form.getInputProps('max_deliverers')} />
          </fieldset>
          <Group>
            <RoleButton needs="editor" type="submit" disabled={!dirty || theirs !== undefined} loading={save.isPending}>
              Save
            </RoleButton>
            <Button
              variant="default"
              onClick={() =>
                void navigate({
                  to: '/templates/$templateId',
                  params: { templateId: integration.template_id },
                  search: latest === integration.revision_number ? {} : { revision: String(integration.revision_number) },
                })
              }
            >
              Open the mapping
            </Button>
            <RoleButton
              needs="admin"
              variant="subtle"
              color="red"
              onClick={() =>
                modals.openConfirmModal({
                  title: `Remove ${integration.name} from this pipeline?`,
                  children: `${number(health.waiting)} waiting events end undelivered with the reason “integration deleted”. The template and its revisions stay.`,
                  labels: { confirm: 'Remove', cancel: 'Keep' },
                  confirmProps: { color: 'red' },
                  onConfirm: () => remove.mutate(),
                })
              }
            >
              Remove
            </RoleButton>
          </Group>
        </Stack>
      </form>
    </section>
  );
}
