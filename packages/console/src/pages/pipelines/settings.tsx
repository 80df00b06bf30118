import { Alert, Button, Group, Modal, NumberInput, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { failureText, fieldErrors } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';

interface EditablePipeline {
  id: string;
  name: string;
  enabled: boolean;
  domain_allowlist: string[];
  labels: string[];
  rate_limit_rps: number;
  challenge_token_required: boolean;
  pipeline_key: string;
  pipeline_key_secret_prefix: string;
}

export function PipelineSettings({ pipeline }: { pipeline: EditablePipeline }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const mayAdmin = useMay('admin');
  const [secret, setSecret] = useState<string>();
  const path = { id: pipeline.id };
  const form = useForm({
    initialValues: {
      name: pipeline.name,
      enabled: pipeline.enabled,
      domain_allowlist: pipeline.domain_allowlist,
      labels: pipeline.labels,
      rate_limit_rps: pipeline.rate_limit_rps,
      challenge_token_required: pipeline.challenge_token_required,
    },
  });
  const save = useMutation({
    mutationFn: (body: typeof form.values) => call(api.PUT('/v1/admin/pipelines/{id}', { params: { path }, body })),
    onSuccess: async () => {
      form.resetDirty();
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['pipeline', pipeline.id] }),
        queries.invalidateQueries({ queryKey: ['pipelines'] }),
      ]);
      notifications.show({ message: 'Saved.' });
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'name')),
  });
  const rotate = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/pipelines/{id}/rotate-secret', { params: { path } })),
    onSuccess: async (made) => {
      setSecret(made.pipeline_key_secret);
      await queries.invalidateQueries({ queryKey: ['pipeline', pipeline.id] });
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
      <form className="panel" style={{ padding: 16 }} onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
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
          <Switch
            label="Require a challenge token"
            disabled={!mayEdit}
            {...form.getInputProps('challenge_token_required', { type: 'checkbox' })}
          />
          <Group>
            <Button
              type="submit"
              disabled={!mayEdit || !form.isDirty()}
              loading={save.isPending}
              title={mayEdit ? undefined : 'Needs the role editor'}
            >
              Save
            </Button>
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
        <Button
          variant="default"
          disabled={!mayAdmin}
          title={mayAdmin ? undefined : 'Needs the role admin'}
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
        </Button>
      </section>
      <section className="panel" style={{ padding: 16 }}>
        <Text fw={650} mb="xs">
          Delete
        </Text>
        <p className="dim">Collection on its key stops at once, and waiting events of its integrations end undelivered.</p>
        <Button
          color="red"
          variant="outline"
          disabled={!mayAdmin}
          title={mayAdmin ? undefined : 'Needs the role admin'}
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
        </Button>
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
