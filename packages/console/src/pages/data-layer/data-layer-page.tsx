/** Organisation-level processing as forms, with their effect on a sample event beside them. Two people who edit at once see each other's change. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { Alert, Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict, isConflict, readTheirs } from '../../components/conflict.tsx';
import { Page } from '../../components/page.tsx';
import { RoleButton, RoleNote } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { dateTime } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { readRecentEvents, TRIAL_PAGES } from '../mapping/recent-events.ts';
import classes from './data-layer.module.css';
import { dataLayerEffect, effectText } from './effect.ts';
import { currentFaults, sectionOf, WHOLE } from './faults.ts';
import { PreviewPanel } from './preview-panel.tsx';
import { Sections } from './sections.tsx';

interface Stored {
  config: DataLayerConfig;
  version: number;
  updated_at: string | null;
}
const dataLayerQuery = {
  queryKey: ['data-layer'],
  queryFn: async () => (await call(api.GET('/v1/admin/data-layer', {}))) as unknown as Stored, // OpenAPI has no type for a rule's condition
};

export function DataLayerPage() {
  const query = useQuery(dataLayerQuery);
  if (query.isPending) return <Loading what="the data layer" />;
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Form first={query.data} />;
}

/** Keeps what it started from: a newer version that is read meanwhile must not replace what is being typed. */
function Form({ first }: { first: Stored }) {
  const queries = useQueryClient();
  const may = useMay('admin');
  const [stored, setStored] = useState(first);
  const [config, setConfig] = useState(stored.config);
  const [conflict, setConflict] = useState<Stored>();
  const dirty = JSON.stringify(config) !== JSON.stringify(stored.config);
  useUnsaved(dirty, leavesForm);
  const set = <K extends keyof DataLayerConfig>(section: K, next: Partial<DataLayerConfig[K]>) =>
    setConfig((old) => ({ ...old, [section]: Array.isArray(old[section]) ? next : { ...old[section], ...next } }));
  const save = useMutation({
    mutationFn: (version: number) =>
      call(
        api.PUT('/v1/admin/data-layer', {
          params: { header: { 'if-match': String(version) } } as never,
          body: { config } as never,
          headers: { 'if-match': String(version) },
        }),
      ),
    onMutate: () => config,
    onSuccess: (saved, _version, sent) => {
      notifications.show({ message: 'Saved. New events are processed this way within five seconds.' });
      const now = saved as unknown as Stored; // as it is read
      queries.setQueryData(dataLayerQuery.queryKey, now);
      setStored(now);
      setConfig((typed) => afterSave(sent, typed, now.config));
      setConflict(undefined);
    },
    onError: async (error) => {
      if (isConflict(error)) setConflict(await readTheirs(dataLayerQuery.queryFn));
    },
  });
  /** What drops or changes events is saved after a question that counts them. */
  const ask = useMutation({
    mutationFn: async () => effectText(await dataLayerEffect(stored.config, config, await readRecentEvents(undefined, TRIAL_PAGES))),
    onSuccess: (text) => (text === undefined ? save.mutate(stored.version) : question(text)),
    onError: () => question('How many events that concerns is not known now.'),
  });
  const question = (text: string) =>
    openConfirmModal({
      title: 'Change how every event is processed?',
      children: `${text} New events are processed the new way within five seconds; those that were delivered stay as they are.`,
      labels: { confirm: 'Save it', cancel: 'Keep' },
      onConfirm: () => save.mutate(stored.version),
    });
  const failed = save.isError && !isConflict(save.error) ? save.error : undefined;
  const sent = save.context;
  const faults = useMemo(() => {
    const refused = failed === undefined ? [] : Object.entries(fieldErrors(failed, 'config'));
    const named = refused.map(([field, message]) => [field.replace(/^config\.?/, ''), message]);
    return currentFaults(Object.fromEntries(named), sent ?? config, config);
  }, [failed, sent, config]);
  const general = Object.entries(faults).filter(([field]) => sectionOf(field) === WHOLE || !Object.hasOwn(config, sectionOf(field)));
  return (
    <Page
      title="Data layer"
      about={`What happens to every event of the organisation, in this order. ${stored.updated_at === null ? 'Never changed.' : `Changed ${dateTime(stored.updated_at)}.`}`}
      actions={
        <>
          <Button
            variant="default"
            disabled={!dirty}
            onClick={() => {
              setConfig(stored.config);
              save.reset();
            }}
          >
            Discard
          </Button>
          <RoleButton
            needs="admin"
            disabled={!dirty || conflict !== undefined}
            loading={save.isPending || ask.isPending}
            onClick={() => ask.mutate()}
          >
            Save
          </RoleButton>
        </>
      }
    >
      {conflict !== undefined && (
        <Conflict
          what="the data layer"
          theirs={conflict.config}
          mine={config}
          busy={save.isPending}
          onKeepMine={() => save.mutate(conflict.version)}
          onTakeTheirs={() => {
            setStored(conflict);
            setConfig(conflict.config);
            setConflict(undefined);
          }}
        />
      )}
      {general.map(([field, message]) => (
        <Alert key={field} color="red" role="alert" title="Not saved" mb="md">
          {message}
        </Alert>
      ))}
      <RoleNote needs="admin" />
      <div className={classes.columns}>
        <Sections config={config} faults={faults} disabled={!may} set={set} />
        <PreviewPanel config={config} />
      </div>
    </Page>
  );
}
/** Another sample keeps what was typed. */
const leavesForm = (next: { pathname: string }, current: { pathname: string }): boolean => next.pathname !== current.pathname;
