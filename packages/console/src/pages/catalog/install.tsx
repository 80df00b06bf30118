/** Installs a vendor: variant, credentials with a real test call, consent category, what it maps, pipelines. */

import { Button, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, call } from '../../api.ts';
import type { ConfigField } from '../../components/config-field.ts';
import { ConfigInput } from '../../components/config-input.tsx';
import { ConsentCategorySelect } from '../../components/consent-category-select.tsx';
import { PipelinesSelect } from '../../components/server-select.tsx';
import { type TestBody, TestEvent } from '../../components/trial-event.tsx';
import { failureText, fieldErrors } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import classes from './catalog.module.css';
import { ACCOUNT_FIELD, type InstallableVendor, type InstallCalls, installation, lacksAccountOnly } from './installation.ts';
import { Installed } from './installed.tsx';
import { mappedEvents, restText, type VariantConfig } from './variant.ts';

const callsOf = (vendor: InstallableVendor): InstallCalls => ({
  install: async (key, body) =>
    (
      await call(
        api.POST('/v1/admin/integration-catalog/{vendor}/install', {
          params: { path: { vendor: key } },
          body: { ...body, config: body.config as never },
        }),
      )
    ).template.id,
  assign: (id, template_id, consent_category) =>
    call(
      api.POST('/v1/admin/pipelines/{id}/integrations', {
        params: { path: { id } },
        body: { template_id, consent_category: consent_category as never, enabled: true },
      }),
    ).catch((error: unknown) => {
      if (vendor.connect !== null && lacksAccountOnly(error)) return undefined;
      throw error;
    }),
});
const isEmpty = (value: unknown): boolean =>
  value === '' || value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const filledIn = (config: Record<string, unknown>) => Object.fromEntries(Object.entries(config).filter(([, value]) => !isEmpty(value)));

export function Install({
  vendor,
  variant,
  pipeline,
  onDone,
}: {
  vendor: InstallableVendor;
  variant?: string;
  /** Where the reader came from, if from a pipeline. */
  pipeline?: string | undefined;
  onDone: () => void;
}) {
  const queries = useQueryClient();
  const pipelines = useQuery(pipelinesQuery());
  const [more, setMore] = useState(false);
  const required = vendor.config_fields.filter((field) => field.required || field.key === vendor.test_mode?.field);
  const optional = vendor.config_fields.filter((field) => !required.includes(field));
  const form = useForm({
    initialValues: {
      name: vendor.name,
      variant: variant ?? 'default',
      pipelines: pipeline === undefined ? [] : [pipeline],
      consent_category: vendor.default_consent_category ?? null,
      config: Object.fromEntries(required.map((field) => [field.key, field.default ?? ''])) as Record<string, unknown>,
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name.' : null),
      config: Object.fromEntries(
        required
          .filter((field) => field.required && (vendor.connect === null || field.key !== ACCOUNT_FIELD))
          .map(({ key, label }) => [key, (value: unknown) => (isEmpty(value) ? `${label} is required.` : null)]),
      ),
    },
  });
  // The only pipeline is the one that is meant.
  const only = pipelines.data?.total === 1 ? pipelines.data.pipelines[0]?.id : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: proposed once, when the pipelines are known
  useEffect(() => {
    if (only === undefined || form.values.pipelines.length > 0) return;
    form.setFieldValue('pipelines', [only]);
    form.resetDirty({ ...form.values, pipelines: [only] });
  }, [only]);
  function showFaults(error: unknown) {
    const faults = fieldErrors(error, 'name');
    form.setErrors(faults);
    if (Object.keys(faults).some((field) => optional.some(({ key }) => field.startsWith(`config.${key}`)))) setMore(true);
  }
  // Steps that a failed try completed: a second integration of a pipeline would deliver each event twice.
  const steps = useRef(installation(vendor.key, callsOf(vendor)));
  const install = useMutation({
    mutationFn: (values: typeof form.values) => {
      return steps.current({
        template: { name: values.name.trim(), variant: values.variant, config: filledIn(values.config) },
        pipelines: values.pipelines,
        consent_category: values.consent_category,
      });
    },
    onSettled: () => Promise.all(['integrations', 'templates'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
    onError: showFaults,
  });
  const test = ({ variant: key, config, pipelines: [pipeline_id] }: typeof form.values, body: TestBody) =>
    call(
      api.POST('/v1/admin/integration-catalog/{vendor}/test', {
        params: { path: { vendor: vendor.key } },
        body: { ...body, variant: key, config: filledIn(config), ...(pipeline_id === undefined ? {} : { pipeline_id }) } as never,
      }),
    );
  useUnsaved(form.isDirty() && !install.isPending && !install.isSuccess);
  if (install.data !== undefined)
    return <Installed vendor={vendor} templateId={install.data.templateId} integrations={install.data.integrations} onDone={onDone} />;
  const config = (vendor.variants.find(({ key }) => key === form.values.variant)?.default_config ?? {}) as VariantConfig;
  const events = mappedEvents(config);
  const inputs = (fields: readonly ConfigField[]) =>
    fields.map((field) => {
      const path = `config.${field.key}`;
      const { onChange, ...input } = form.getInputProps(path) as { onChange: (value: unknown) => void; value: unknown; error: string };
      return (
        <ConfigInput
          key={field.key}
          field={field}
          {...input}
          cellError={(cell) => form.errors[`${path}${cell}`]}
          onChange={(value) => {
            onChange(value);
            // Faults of cells belong to the rows as they were sent.
            form.setErrors(Object.fromEntries(Object.entries(form.errors).filter(([at]) => at !== path && !at.startsWith(`${path}[`))));
          }}
        />
      );
    });
  return (
    <form onSubmit={form.onSubmit((values) => install.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        {vendor.variants.length > 1 && (
          <Select
            label="Variant"
            description="What is mapped to begin with. Everything can be changed afterwards."
            allowDeselect={false}
            data={vendor.variants.map(({ key: value, name: label }) => ({ value, label }))}
            {...form.getInputProps('variant')}
          />
        )}
        {inputs(required)}
        {optional.length > 0 && (
          <Button variant="subtle" size="compact-xs" onClick={() => setMore(!more)} aria-expanded={more} style={{ alignSelf: 'start' }}>
            {more ? 'Fewer settings' : `${optional.length} more settings`}
          </Button>
        )}
        {more && inputs(optional)}
        <div className={classes.done}>
          <TestEvent
            about={`Check the credentials with one real request: a sample order goes to ${vendor.name}. Nothing is installed yet.${
              vendor.connect === null
                ? ''
                : ' An account that you connect with OAuth can be tested only afterwards: install, connect the account, then “Try it” at the pipeline’s integration.'
            }`}
            testMode={vendor.test_mode}
            send={(body) => test(form.values, body)}
            onError={showFaults}
          />
        </div>
        <ConsentCategorySelect
          label="Consent category"
          description={
            vendor.default_consent_category
              ? `Proposed for ${vendor.name}: ${vendor.default_consent_category}. Events without this consent are not sent to it.`
              : 'Events without this consent are not sent to this vendor.'
          }
          placeholder="None: all events are sent"
          {...form.getInputProps('consent_category')}
        />
        <div>
          <Text size="sm" fw={650}>
            What it will map
          </Text>
          <Text size="xs" c="var(--dim)">
            {events.length === 0
              ? 'Every event is delivered as it is.'
              : `${events.length} ${events.length === 1 ? 'event' : 'events'}: ${events
                  .slice(0, 6)
                  .map(({ event }) => event)
                  .join(', ')}${events.length > 6 ? ` and ${events.length - 6} more` : ''}. Everything else ${restText(config)}.`}
          </Text>
        </div>
        <PipelinesSelect label="Pipelines" description="It receives their events from now on." {...form.getInputProps('pipelines')} />
        {install.isError && (
          <Text size="sm" c="var(--bad)" role="alert">
            {failureText(install.error)}
          </Text>
        )}
        <Button type="submit" size="sm" loading={install.isPending}>
          Install
        </Button>
      </Stack>
    </form>
  );
}
