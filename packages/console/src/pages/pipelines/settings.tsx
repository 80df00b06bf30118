import { Alert, Group, Modal, NumberInput, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict, isConflict } from '../../components/conflict.tsx';
import { Json } from '../../components/json.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { failureText, fieldErrors } from '../../forms.ts';
import { pipelineQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';

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
const valuesOf = (pipeline: EditablePipeline) => ({
  ...editedOf(pipeline),
  // A number field is empty as a text.
  retention_days: pipeline.retention_days ?? ('' as const),
});
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
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const [secret, setSecret] = useState<string>();
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
      if (isConflict(error)) setTheirs(await queries.fetchQuery({ ...pipelineQuery(pipeline.id), staleTime: 0 }));
      else form.setErrors(fieldErrors(error, 'name'));
    },
  });
  const rotate = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/pipelines/{id}/rotate-secret', { params: { path } })),
    onSuccess: async (made) => {
      setSecret(made.pipeline_key_secret);
      const { updated_at } = await queries.fetchQuery({ ...pipelineQuery(pipeline.id), staleTime: 0 });
      // Our own change is no conflict for the form.
      setStored((old) => ({ ...old, updated_at }));
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not rotated', message: failureText(error) }),
  });
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/pipelines/{id}', { params: { path } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['pipelines'] });
      void navigate({ to: '/pipelines' });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not deleted', message: failureText(error) }),
  });
  return (
    <Stack gap="md" maw={640}>
      <form className="panel" style={{ padding: 16 }} onSubmit={form.onSubmit(() => save.mutate(stored.updated_at))}>
        <Stack gap="sm">
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
          <Switch label="Accept events" disabled={!mayEdit} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <TagsInput
            label="Domains that may send events"
            description="For example shop.example or *.shop.example. Empty allows every origin."
            disabled={!mayEdit}
            {...form.getInputProps('domain_allowlist')}
          />
          <TagsInput label="Labels" disabled={!mayEdit} {...form.getInputProps('labels')} />
          <NumberInput label="Events per second at most" min={1} disabled={!mayEdit} {...form.getInputProps('rate_limit_rps')} />
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
      <section className="panel" style={{ padding: 16 }}>
        <Text fw={650} mb="xs">
          Keys
        </Text>
        <p className="dim">The pipeline key is public; pages and apps carry it.</p>
        <Json value={pipeline.pipeline_key} label="Pipeline key" />
        <p className="dim">
          The secret signs requests of servers. It begins with <code>{pipeline.pipeline_key_secret_prefix}</code> and is shown only when it
          is made.
        </p>
        <RoleButton
          needs="admin"
          variant="default"
          onClick={() =>
            modals.openConfirmModal({
              title: 'Rotate the secret?',
              children: 'The present secret stops working at once. Servers that sign with it get 401 until they have the new one.',
              labels: { confirm: 'Rotate', cancel: 'Keep' },
              onConfirm: () => rotate.mutate(),
            })
          }
        >
          Rotate the secret
        </RoleButton>
      </section>
      <section className="panel" style={{ padding: 16 }}>
        <Text fw={650} mb="xs">
          Delete
        </Text>
        <p className="dim">Collection on its key stops at once, and waiting events of its integrations end undelivered.</p>
        <RoleButton
          needs="admin"
          color="red"
          variant="outline"
          onClick={() =>
            modals.openConfirmModal({
              title: `Delete ${pipeline.name}?`,
              children: 'There is no undo in the console.',
              labels: { confirm: 'Delete the pipeline', cancel: 'Keep it' },
              confirmProps: { color: 'red' },
              onConfirm: () => remove.mutate(),
            })
          }
        >
          Delete this pipeline
        </RoleButton>
      </section>
      <Modal opened={secret !== undefined} onClose={() => setSecret(undefined)} title="The new secret">
        <Alert color="yellow" mb="sm">
          Copy it now: it is not shown again.
        </Alert>
        <Json value={secret ?? ''} label="New secret" />
      </Modal>
    </Stack>
  );
}
