/** Assigns a template to a pipeline: from the template, from the pipeline, or after its account was connected. */
import { Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { failureText } from '../forms.ts';
import { catalogQuery } from '../queries.ts';
import { ConsentCategorySelect } from './consent-category-select.tsx';
import { RoleButton } from './role-button.tsx';
import { PipelineSelect, TemplateSelect } from './server-select.tsx';

export function UseTemplate({
  templateId,
  pipelineId,
  onDone,
}: {
  /** A known value has no field in the form. */
  templateId?: string;
  pipelineId?: string;
  onDone?: () => void;
}) {
  const queries = useQueryClient();
  const catalog = useQuery(catalogQuery());
  const form = useForm({
    initialValues: {
      pipeline: pipelineId ?? (null as string | null),
      template_id: templateId ?? (null as string | null),
      // Undefined: not chosen, so the vendor's proposal stands.
      consent_category: undefined as string | null | undefined,
    },
    validate: {
      pipeline: (value) => (value === null ? 'Choose a pipeline.' : null),
      template_id: (value) => (value === null ? 'Choose a template.' : null),
    },
  });
  const { template_id: chosen } = form.values;
  const template = useQuery({
    queryKey: ['template', chosen],
    enabled: chosen !== null,
    queryFn: () => call(api.GET('/v1/admin/integration-templates/{id}', { params: { path: { id: chosen ?? '' } } })),
  });
  const vendor = template.data?.vendor;
  const proposed = catalog.data?.vendors.find(({ key }) => key === vendor)?.default_consent_category ?? null;
  const category = form.values.consent_category === undefined ? proposed : form.values.consent_category;
  const assign = useMutation({
    mutationFn: ({ pipeline, template_id }: typeof form.values) =>
      call(
        api.POST('/v1/admin/pipelines/{id}/integrations', {
          params: { path: { id: pipeline ?? '' } },
          body: { template_id: template_id ?? '', consent_category: category as never, enabled: true },
        }),
      ),
    onSuccess: async ({ name }) => {
      notifications.show({ message: `${name} receives the pipeline’s events from now on.` });
      await Promise.all(['integrations', 'template', 'templates', 'setup'].map((key) => queries.invalidateQueries({ queryKey: [key] })));
      onDone?.();
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => assign.mutate(values))}>
      <Stack gap="sm">
        {pipelineId === undefined && (
          <PipelineSelect
            label="Pipeline"
            description="It receives these events from now on, with the latest revision."
            {...form.getInputProps('pipeline')}
          />
        )}
        {templateId === undefined && (
          <TemplateSelect
            label="Template"
            description="Installed from the catalog. Its latest revision is used."
            {...form.getInputProps('template_id')}
          />
        )}
        <ConsentCategorySelect
          label="Consent category"
          description="Events without this consent are not sent to this vendor."
          placeholder="None: all events are sent"
          {...form.getInputProps('consent_category')}
          value={category}
        />
        {assign.isError && (
          <Text size="sm" c="var(--bad)" role="alert">
            {failureText(assign.error)}
          </Text>
        )}
        <RoleButton needs="editor" type="submit" size="sm" loading={assign.isPending}>
          Use it
        </RoleButton>
      </Stack>
    </form>
  );
}
