/** Consent, revision, events and limits of an integration. What changes which events it gets is saved after a question. */
import type { IntegrationFields } from '@firsthand/core/config/integration.ts';
import { Button, Group, NumberInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict } from '../../components/conflict.tsx';
import { ConsentCategorySelect } from '../../components/consent-category-select.tsx';
import { ConsentChange, EventsChange, RevisionChange } from '../../components/delivery-change.tsx';
import { EventNamesInput } from '../../components/event-names-input.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { failureText, formErrors } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import type { Integration } from '../../queries.ts';
import { savePart } from '../../save-part.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import classes from './integrations.module.css';

/** Set elsewhere in the console, or only through the API. */
type NotHere = 'name' | 'enabled' | 'rate_limit_burst';
/** The form's fields; an empty number is none. Each writable field of an integration is here or in `NotHere`. */
const settingsOf = (integration: Integration) =>
  ({
    consent_category: integration.consent_category,
    revision_number: integration.revision_number,
    event_names: integration.event_filter?.event_names ?? [],
    rate_limit_rps: integration.rate_limit_rps ?? '',
    rate_limit_daily: integration.rate_limit_daily ?? '',
    max_in_flight: integration.max_in_flight ?? '',
    max_deliverers: integration.max_deliverers,
  }) satisfies Record<Exclude<keyof IntegrationFields, NotHere | 'event_filter'> | 'event_names', unknown>;
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

export function IntegrationSettings({ integration }: { integration: Integration }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const path = { id: integration.pipeline_id, integration_id: integration.id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['integrations', integration.pipeline_id] });
  const form = useForm({
    initialValues: settingsOf(integration),
    // An emptied number field holds an empty text, and the question names the revision.
    validate: { revision_number: (revision) => (Number.isInteger(revision) ? null : 'Enter the number of a revision.') },
  });
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
  const put = (body: Record<string, unknown>, header: { 'if-match': string }) =>
    call(api.PUT('/v1/admin/pipelines/{id}/integrations/{integration_id}', { params: { path, header }, body: body as never }));
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
      await refresh();
      notifications.show({ message: 'Saved. The change is in force within five seconds.' });
      setBase(answer.stored);
      setTheirs(undefined);
      const stored = settingsOf(answer.stored);
      form.setInitialValues(stored);
      form.setValues((now) => afterSave(sent, now as Settings, stored));
    },
    onError: (error) => {
      const { event_filter, ...faults } = formErrors(error, 'revision_number', [...Object.keys(form.values), 'event_filter']);
      form.setErrors(event_filter === undefined ? faults : { ...faults, event_names: event_filter });
      notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) });
    },
  });
  const { latest_revision_number: latest } = integration;
  function ask(sent: { values: Settings; since: Integration }) {
    const { consent_category, revision_number, event_names } = sent.values;
    const id = { integrationId: integration.id };
    const effects = [
      changed.includes('consent_category') && <ConsentChange key="consent" {...id} category={consent_category} />,
      changed.includes('revision_number') && <RevisionChange key="revision" {...id} from={base.revision_number} to={revision_number} />,
      changed.includes('event_names') && <EventsChange key="events" {...id} names={event_names} />,
    ].filter((effect) => effect !== false);
    if (effects.length === 0) return save.mutate(sent);
    openConfirmModal({
      title: `Change what ${integration.name} gets?`,
      children: effects,
      labels: { confirm: 'Save', cancel: 'Keep' },
      onConfirm: () => save.mutate(sent),
    });
  }
  return (
    <section className="panel" style={{ padding: 16, minWidth: 0 }} aria-label="Settings">
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
      <form onSubmit={form.onSubmit((values) => ask({ values, since: base }))}>
        <Stack gap="sm">
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
          <EventNamesInput pipelineId={integration.pipeline_id} disabled={!mayEdit} {...form.getInputProps('event_names')} />
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
          </Group>
        </Stack>
      </form>
    </section>
  );
}
