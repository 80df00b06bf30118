/** How the collector is built: consent, vendor ids, values of the page, and how the script is served. */
import { Group, NumberInput, Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict, isConflict, readTheirs } from '../../components/conflict.tsx';
import { ConsentCategorySelect } from '../../components/consent-category-select.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { fieldErrors } from '../../forms.ts';
import { pipelineQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { type BuilderConfig, type CollectorValues, configOf, formField, isShown, valuesOf } from './collector-values.ts';
import { PageVariables } from './page-variables.tsx';
import { VendorSyncs } from './vendor-syncs.tsx';

const PROVIDERS = {
  auto: 'Whichever the page has',
  onetrust: 'OneTrust',
  cookiebot: 'Cookiebot',
  usercentrics: 'Usercentrics',
  didomi: 'Didomi',
  osano: 'Osano',
  tcf: 'IAB TCF',
  google_consent_mode: 'Google consent mode',
  custom: 'Your own',
};
interface Stored {
  id: string;
  js_builder_config: BuilderConfig;
  updated_at: string;
}

export function CollectorForm({ pipeline }: { pipeline: Stored }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  /** What the form started from: a newer version that is read meanwhile must not replace what is being typed. */
  const [stored, setStored] = useState(pipeline);
  const [theirs, setTheirs] = useState<Stored>();
  const form = useForm<CollectorValues>({ initialValues: valuesOf(pipeline.js_builder_config) });
  useUnsaved(form.isDirty());
  /** What was typed after `sent` stays. */
  function startFrom(next: Stored, sent?: CollectorValues) {
    const values = valuesOf(next.js_builder_config);
    setStored(next);
    setTheirs(undefined);
    form.setInitialValues(values);
    form.setValues((now) => (sent === undefined ? values : afterSave(sent, now as CollectorValues, values)));
  }
  const save = useMutation({
    mutationFn: (updatedAt: string) =>
      call(
        api.PUT('/v1/admin/pipelines/{id}', {
          params: { path: { id: pipeline.id }, header: { 'if-match': updatedAt } },
          body: { js_builder_config: configOf(form.values) as never },
        }),
      ) as Promise<Stored>,
    onMutate: () => form.values,
    onSuccess: async (saved, _updatedAt, sent) => {
      startFrom(saved, sent);
      notifications.show({ message: 'Saved. Pages get it with the next build.' });
      await queries.invalidateQueries({ queryKey: ['pipeline', pipeline.id] });
    },
    onError: async (error) => {
      if (isConflict(error)) {
        const read = () => queries.fetchQuery({ ...pipelineQuery(pipeline.id), staleTime: 0 }) as Promise<Stored>;
        setTheirs(await readTheirs(read));
      } else
        form.setErrors(
          Object.fromEntries(
            Object.entries(fieldErrors(error, 'script_filename')).map(([field, message]) => {
              const own = formField(field, form.values);
              return isShown(own) ? [own, message] : ['script_filename', `${own}: ${message}`];
            }),
          ),
        );
    },
  });
  return (
    <form className="panel" style={{ padding: 16, minWidth: 0 }} onSubmit={form.onSubmit(() => save.mutate(stored.updated_at))}>
      <Stack gap="sm">
        <Title order={2}>Settings</Title>
        {theirs !== undefined && (
          <Conflict
            what="the collector"
            theirs={theirs.js_builder_config}
            mine={configOf(form.values)}
            busy={save.isPending}
            onTakeTheirs={() => startFrom(theirs)}
            onKeepMine={() => save.mutate(theirs.updated_at)}
          />
        )}
        <Select
          label="Consent tool"
          description="Where the collector reads the visitor’s choice from."
          placeholder="none: consent is sent with each event"
          clearable
          disabled={!may}
          data={Object.entries(PROVIDERS).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('consent_config.provider')}
        />
        <NumberInput
          label="Wait for a choice, ms"
          placeholder="2000"
          min={0}
          max={60_000}
          disabled={!may}
          {...form.getInputProps('consent_config.wait_ms')}
        />
        <ConsentCategorySelect
          label="Store ids on the device only with consent to"
          description="Without that consent events are still sent, without cookies or storage."
          placeholder="none: always"
          disabled={!may}
          {...form.getInputProps('consent_config.required_category')}
        />
        <VendorSyncs form={form} disabled={!may} />
        <PageVariables form={form} disabled={!may} />
        <Text fw={650} mt="xs">
          Script
        </Text>
        <Switch
          label="Pass the visitor id between your domains"
          disabled={!may}
          {...form.getInputProps('cross_domain', { type: 'checkbox' })}
        />
        <Select
          label="Served"
          allowDeselect={false}
          disabled={!may}
          data={[
            { value: 'cdn', label: 'by a CDN in front of the service' },
            { value: 'cluster', label: 'by the service itself' },
            { value: 'download', label: 'by your own server' },
          ]}
          {...form.getInputProps('delivery_method')}
        />
        <Group grow align="flex-start">
          <TextInput label="File name" disabled={!may} {...form.getInputProps('script_filename')} />
          <TextInput label="Global variable" disabled={!may} {...form.getInputProps('global_variable')} />
        </Group>
        <Group>
          <RoleButton needs="editor" type="submit" loading={save.isPending} disabled={!form.isDirty() || theirs !== undefined}>
            Save
          </RoleButton>
        </Group>
      </Stack>
    </form>
  );
}
