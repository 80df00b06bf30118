import type { PipelineFields } from '@firsthand/core/config/pipeline.ts';
import { Group, NumberInput, Stack, Switch, TagsInput, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict, isConflict, readTheirs } from '../../components/conflict.tsx';
import { LastDay, receivedText } from '../../components/last-day.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { number } from '../../format.ts';
import { formErrors } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { installationQuery, pipelineQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import classes from './consent.module.css';
import { DeletePipeline } from './delete-pipeline.tsx';
import { PipelineKeys } from './pipeline-keys.tsx';

const DAY_S = 86_400;

interface EditablePipeline {
  id: string;
  name: string;
  enabled: boolean;
  domain_allowlist: string[];
  labels: string[];
  rate_limit_rps: number;
  retention_days: number | null;
  challenge_token_required: boolean;
  pipeline_key: string;
  pipeline_key_secret_prefix: string;
  updated_at: string;
}
/** Set elsewhere in the console, or only through the API. */
type NotHere = 'slug' | 'type' | 'parameters' | 'config' | 'js_builder_config' | 'identity_config';
/** The form's fields. Each writable field of a pipeline is here or in `NotHere`. */
const valuesOf = (pipeline: EditablePipeline) =>
  ({
    ...editedOf(pipeline),
    // A number field is empty as a text.
    retention_days: pipeline.retention_days ?? ('' as const),
  }) satisfies Record<Exclude<keyof PipelineFields, NotHere>, unknown>;
const editedOf = ({ name, enabled, domain_allowlist, labels, rate_limit_rps, challenge_token_required }: EditablePipeline) => ({
  name,
  enabled,
  domain_allowlist,
  labels,
  rate_limit_rps,
  challenge_token_required,
});

export function PipelineSettings({ pipeline }: { pipeline: EditablePipeline }) {
  const queries = useQueryClient();
  const mayEdit = useMay('editor');
  const installation = useQuery(installationQuery());
  const path = { id: pipeline.id };
  /** What the form started from: a newer version that is read meanwhile must not replace what is being typed. */
  const [stored, setStored] = useState(pipeline);
  const [theirs, setTheirs] = useState<EditablePipeline>();
  const form = useForm({ initialValues: valuesOf(pipeline) });
  useUnsaved(form.isDirty());
  /** What was typed after `sent` stays. */
  function startFrom(next: EditablePipeline, sent?: typeof form.values) {
    setStored(next);
    setTheirs(undefined);
    form.setInitialValues(valuesOf(next));
    form.setValues((now) => (sent === undefined ? valuesOf(next) : afterSave(sent, now as typeof form.values, valuesOf(next))));
  }
  const save = useMutation({
    mutationFn: (updatedAt: string) => {
      const { retention_days } = form.values;
      const body = { ...form.values, retention_days: retention_days === '' ? null : retention_days };
      return call(api.PUT('/v1/admin/pipelines/{id}', { params: { path, header: { 'if-match': updatedAt } }, body }));
    },
    onMutate: () => form.values,
    onSuccess: async (saved, _updatedAt, sent) => {
      startFrom(saved, sent);
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['pipeline', pipeline.id] }),
        queries.invalidateQueries({ queryKey: ['pipelines'] }),
      ]);
      notifications.show({ message: 'Saved.' });
    },
    onError: async (error) => {
      if (isConflict(error)) setTheirs(await readTheirs(() => queries.fetchQuery({ ...pipelineQuery(pipeline.id), staleTime: 0 })));
      else form.setErrors(formErrors(error, 'name', Object.keys(form.values)));
    },
  });
  /** Asks where the change loses events. */
  function askAndSave() {
    const stops = stored.enabled && !form.values.enabled;
    const days = form.values.retention_days === '' ? null : form.values.retention_days;
    const before = stored.retention_days ?? (installation.data?.retention.events_s ?? Number.POSITIVE_INFINITY) / DAY_S;
    const deletes = days !== null && days < before;
    const { domain_allowlist: domains, challenge_token_required: challenges } = form.values;
    const excludes =
      domains.length > 0 && (stored.domain_allowlist.length === 0 || stored.domain_allowlist.some((domain) => !domains.includes(domain)));
    const refuses = !stops && (excludes || (challenges && !stored.challenge_token_required));
    if (!stops && !deletes && !refuses) return save.mutate(stored.updated_at);
    openConfirmModal({
      title: stops
        ? `Stop accepting events of ${stored.name}?`
        : refuses
          ? `Refuse more events of ${stored.name}?`
          : `Keep events of ${stored.name} for ${days} days only?`,
      children: (
        <Stack gap="xs">
          {stops && (
            <div>
              Requests with its key are refused from then on, and what they carry is lost.{' '}
              <LastDay pipelineId={pipeline.id}>{receivedText}</LastDay>
            </div>
          )}
          {refuses && (
            <div>
              {excludes && `Events of pages on other domains than ${domains.join(', ')} are rejected from then on. `}
              {challenges && !stored.challenge_token_required && 'Events without a challenge token are rejected from then on. '}
              <LastDay pipelineId={pipeline.id}>{receivedText}</LastDay>
            </div>
          )}
          {deletes && (
            <div>
              Older events are deleted within minutes. <OlderEvents pipelineId={pipeline.id} days={days} />
            </div>
          )}
        </Stack>
      ),
      labels: { confirm: stops ? 'Stop accepting' : refuses ? 'Refuse them' : 'Keep them shorter', cancel: 'Not now' },
      confirmProps: { color: 'red' },
      onConfirm: () => save.mutate(stored.updated_at),
    });
  }
  return (
    <div className={classes.columns}>
      <form className="panel" style={{ padding: 16 }} onSubmit={form.onSubmit(askAndSave)}>
        <Stack gap="sm">
          <Title order={2}>Settings</Title>
          {theirs !== undefined && (
            <Conflict
              what="this pipeline"
              theirs={valuesOf(theirs)}
              mine={form.values}
              busy={save.isPending}
              onTakeTheirs={() => startFrom(theirs)}
              onKeepMine={() => save.mutate(theirs.updated_at)}
            />
          )}
          <TextInput label="Name" disabled={!mayEdit} {...form.getInputProps('name')} />
          <Switch
            label="Accept events"
            description="When off, every request with its key is rejected."
            disabled={!mayEdit}
            {...form.getInputProps('enabled', { type: 'checkbox' })}
          />
          <TagsInput
            label="Domains that may send events"
            description="For example shop.example or *.shop.example. Empty allows every origin."
            disabled={!mayEdit}
            {...form.getInputProps('domain_allowlist')}
          />
          <TagsInput label="Labels" disabled={!mayEdit} {...form.getInputProps('labels')} />
          <NumberInput
            label="Maximum events per second"
            description="Requests above it get 429 and can be retried."
            min={1}
            disabled={!mayEdit}
            {...form.getInputProps('rate_limit_rps')}
          />
          <NumberInput
            label="Days to keep events"
            description="Empty keeps them as long as the installation does (EVENT_RETENTION)."
            min={1}
            max={400}
            disabled={!mayEdit}
            {...form.getInputProps('retention_days')}
          />
          <Switch
            label="Require a challenge token"
            description="Events without the token of your page or app are rejected."
            disabled={!mayEdit}
            {...form.getInputProps('challenge_token_required', { type: 'checkbox' })}
          />
          <Group>
            <RoleButton needs="editor" type="submit" disabled={!form.isDirty() || theirs !== undefined} loading={save.isPending}>
              Save
            </RoleButton>
          </Group>
        </Stack>
      </form>
      <Stack gap="md">
        {/* Our own change is no conflict for the form. */}
        <PipelineKeys pipeline={pipeline} onRotated={(updated_at) => setStored((old) => ({ ...old, updated_at }))} />
        <DeletePipeline pipeline={pipeline} />
      </Stack>
    </div>
  );
}

/** How many retained events are older than so many days. */
function OlderEvents({ pipelineId, days }: { pipelineId: string; days: number }) {
  const { data, isError } = useQuery({
    queryKey: ['older-events', pipelineId, days],
    queryFn: () => {
      const to = new Date(Date.now() - days * DAY_S * 1_000).toISOString();
      return call(api.GET('/v1/admin/events', { params: { query: { pipeline_id: pipelineId, to, limit: 1 } } }));
    },
  });
  if (isError || (data !== undefined && data.total === undefined)) return 'How many that are is not known now.';
  if (data?.total === undefined) return '…';
  return `That is ${number(data.total)}${data.total_is_estimate === true ? ' or more' : ''} now.`;
}
