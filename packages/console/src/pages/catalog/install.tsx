/** Installs a vendor on a pipeline in one step: credentials, consent category, pipeline. */
import { Button, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { type ConfigField, ConfigInput } from '../../components/config-input.tsx';
import { failureText, fieldErrors } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';

interface Vendor {
  key: string;
  name: string;
  category: string;
  config_fields: ConfigField[];
  variants: { key: string; name: string }[];
  default_consent_category?: string | null;
}
const CATEGORIES = ['essential', 'functional', 'analytics', 'marketing', 'advertising'];
const PROPOSED: Record<string, string> = { advertising: 'marketing', analytics: 'analytics', attribution: 'marketing' };

export function Install({ vendor, variant, onDone }: { vendor: Vendor; variant?: string; onDone: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const pipelines = useQuery(pipelinesQuery());
  const shown = vendor.config_fields.filter(({ required, key }) => required || key === 'test_event_code');
  const form = useForm({
    initialValues: {
      name: vendor.name,
      variant: variant ?? 'default',
      pipelines: [] as string[],
      consent_category: (vendor.default_consent_category ?? PROPOSED[vendor.category] ?? null) as string | null,
      config: Object.fromEntries(shown.map((field) => [field.key, (field.default ?? '') as string])) as Record<string, unknown>,
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name.' : null),
      config: Object.fromEntries(
        shown
          .filter(({ required }) => required)
          .map(({ key, label }) => [key, (value: unknown) => (value === '' || value === undefined ? `${label} is required.` : null)]),
      ),
    },
  });
  const install = useMutation({
    mutationFn: async (values: typeof form.values) => {
      const config = Object.fromEntries(Object.entries(values.config).filter(([, value]) => value !== ''));
      const { template } = await call(
        api.POST('/v1/admin/integration-catalog/{vendor}/install', {
          params: { path: { vendor: vendor.key } },
          body: { name: values.name.trim(), variant: values.variant, config },
        }),
      );
      for (const id of values.pipelines)
        await call(
          api.POST('/v1/admin/pipelines/{id}/integrations', {
            params: { path: { id } },
            body: { template_id: template.id, consent_category: values.consent_category, enabled: true } as never,
          }),
        );
      return values.pipelines;
    },
    onSuccess: async ([first]) => {
      await queries.invalidateQueries({ queryKey: ['integrations'] });
      notifications.show({
        message: first === undefined ? `${vendor.name} is installed as a template.` : `${vendor.name} receives events from now on.`,
      });
      onDone();
      if (first !== undefined)
        void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: first }, search: { tab: 'integrations' } });
    },
    onError: (error) => {
      form.setErrors(fieldErrors(error, 'name'));
      notifications.show({ color: 'red', title: 'Not installed', message: failureText(error) });
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => install.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <Select
          label="Blueprint"
          description="What is mapped to begin with. Everything can be changed afterwards."
          allowDeselect={false}
          data={vendor.variants.map(({ key: value, name: label }) => ({ value, label }))}
          {...form.getInputProps('variant')}
        />
        {shown.map((field) => (
          <ConfigInput key={field.key} field={field} {...form.getInputProps(`config.${field.key}`)} />
        ))}
        <Select
          label="Consent category"
          description="Events without this consent are not sent to this vendor."
          placeholder="None: all events are sent"
          clearable
          data={CATEGORIES}
          {...form.getInputProps('consent_category')}
        />
        <MultiSelect
          label="Pipelines"
          description="Whose events it receives, from now on."
          data={pipelines.data?.pipelines.map(({ id: value, name: label }) => ({ value, label })) ?? []}
          {...form.getInputProps('pipelines')}
        />
        <Button type="submit" size="sm" loading={install.isPending}>
          Install
        </Button>
      </Stack>
    </form>
  );
}
